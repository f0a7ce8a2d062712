/* What a process can give up by itself, for good. */
#ifndef SEAL_PRIVILEGES_H
#define SEAL_PRIVILEGES_H

#include <stdint.h>

/* The user that jails have inside their user namespace. */
enum { JAIL_UID = 1000 };

/* All of this thread; 0 or -errno. Capabilities that could come by exec; needs
 * some. */
int privileges_bound(void);
/* Those that it has; no_new_privs. */
int privileges_drop(void);
/* The limit, and its maximum, is `value` or what it is if that is less. */
void rlimit_lower(int what, uint64_t value);

#endif

/* Rights that a process can give up for good, by itself. */
#ifndef SEAL_PRIVILEGES_H
#define SEAL_PRIVILEGES_H

#include <stdint.h>

/* The user of jails inside their user namespace. */
enum { JAIL_UID = 1000 };

/* Gives up the capabilities that exec could add, for this thread. Needs some
 * capabilities itself. Returns 0 or -errno. */
int privileges_bound(void);
/* Gives up the current capabilities, and sets no_new_privs. Returns 0 or
 * -errno. */
int privileges_drop(void);
/* Lowers the limit and its maximum to `value`; never raises them. */
void privileges_lower_rlimit(int what, uint64_t value);

#endif

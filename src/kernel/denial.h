/* The hosts that a run was denied, for its result. */
#ifndef KERNEL_DENIAL_H
#define KERNEL_DENIAL_H

#include "net/hostname.h"

#include <stddef.h>
#include <stdint.h>

struct kernel;

enum { DENIALS_MAX = 16 };

struct denial {
    char host[HOSTNAME_MAX + 1]; /* a name or an address */
    uint16_t port;               /* 0: not known */
    const char *reason;          /* one word, constant */
};

/* At most DENIALS_MAX different ones; further ones are omitted. */
struct denials {
    size_t n;
    struct denial v[DENIALS_MAX];
};

/* Records that policy refused a process with this tag a host, if it belongs to
 * the current run. Without memory, only the fact is recorded. */
void kernel_deny_host(struct kernel *k, uint64_t run_tag, const char *host,
                      uint16_t port, const char *reason);

#endif

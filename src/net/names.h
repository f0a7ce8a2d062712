/* The names that a sandbox has asked for, and the addresses that stand for
 * them.
 *
 * The sandbox never sees the address of a host. Each name gets one of
 * 198.18.0.0/15, a range that no network uses, and a connection to that address
 * means the name. The name of a connection is therefore known exactly, and an
 * address carries no right of its own. */
#ifndef NET_NAMES_H
#define NET_NAMES_H

#include "net/hostname.h"

#include <netinet/in.h>
#include <stdint.h>

enum { NAMES_MAX = 4096 };

struct names {
    char **v; /* owned, canonical */
    size_t n, cap;
    uint16_t *slots; /* hash table: index + 1, 0: free */
};

void names_init(struct names *t);
void names_fini(struct names *t);
/* Makes `to`, which is empty, a copy. -ENOMEM: it is empty. */
int names_copy(struct names *to, const struct names *from);
/* Returns the address of a canonical name, which is added if it is new.
 * -ENOSPC: there are NAMES_MAX of them; -ENOMEM. */
int names_add(struct names *t, const char *name, uint8_t ret_v4[4]);
/* Returns the name of an address, or NULL. */
const char *names_find(const struct names *t, const uint8_t v4[4]);

#endif

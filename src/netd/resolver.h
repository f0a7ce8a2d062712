/* Names and their addresses, by DNS (c-ares), with a small cache. */
#ifndef NETD_RESOLVER_H
#define NETD_RESOLVER_H

#include "net/hostname.h"

#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>

struct ares_channeldata;

enum {
    RESOLVER_ADDRESSES_MAX = 8, /* of one name; further ones are ignored */
    RESOLVER_CACHED = 64,
    RESOLVER_SOCKETS_MAX = 16,
};

struct resolver_answer {
    int error; /* 0, ENOENT: no such name, EAGAIN: no answer */
    size_t n;
    struct in6_addr ip[RESOLVER_ADDRESSES_MAX]; /* IPv4 first */
};

struct resolver_entry {
    char name[HOSTNAME_MAX + 1];
    struct resolver_answer answer;
    int64_t until_ns; /* 0: not used */
};

struct resolver {
    struct ares_channeldata *channel;
    struct resolver_entry *cache; /* RESOLVER_CACHED entries */
};

typedef void resolver_done(void *arg, const struct resolver_answer *a);

/* `servers` is a list ADDRESS[:PORT],...; NULL: those of the host. Reads the
 * host's configuration; afterwards, no file is opened. -EINVAL, -ENOMEM. */
int resolver_init(struct resolver *r, const char *servers);
/* Calls `done` of all queries that are left. */
void resolver_fini(struct resolver *r);
/* Calls `done` once: at once, or from resolver_run. `name` is canonical. */
void resolver_find(struct resolver *r, const char *name, resolver_done *done,
                   void *arg);
/* Fills in the descriptors to poll, at most RESOLVER_SOCKETS_MAX. */
size_t resolver_fill(struct resolver *r, struct pollfd *v);
/* Returns the time until resolver_run is due, at most `max_ms`. */
int resolver_timeout_ms(struct resolver *r, int max_ms);
/* Handles the descriptors that are ready, and time limits. */
void resolver_run(struct resolver *r, const struct pollfd *v, size_t n);

#endif

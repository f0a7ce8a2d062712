/* A query goes to the name servers alone: the host's /etc/hosts and its search
 * list have names that are not public, and a sandbox must not learn of them. */
#include "netd/resolver.h"

#include "base/os_time.h"
#include "net/address.h"

#include <ares.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIMEOUT_MS = 2500,
    TRIES = 2,
    TTL_MAX_S = 60,
    TTL_FAILED_S = 2,
};

/* One query in progress. */
struct resolver_query {
    struct resolver *resolver;
    resolver_done *done;
    void *arg;
    char name[HOSTNAME_MAX + 1];
};

int
resolver_init(struct resolver *r, const char *servers)
{
    struct ares_options o = {
        .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
        .timeout = TIMEOUT_MS,
        .tries = TRIES,
        .lookups = (char[]){"b"},
    };

    *r = (struct resolver){.cache = calloc(RESOLVER_CACHED, sizeof *r->cache)};
    if (!r->cache || ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS ||
        ares_init_options(&r->channel, &o,
                          ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
                              ARES_OPT_LOOKUPS) != ARES_SUCCESS)
        return -ENOMEM;
    if (servers &&
        ares_set_servers_ports_csv(r->channel, servers) != ARES_SUCCESS)
        return -EINVAL;
    return 0;
}

void
resolver_fini(struct resolver *r)
{
    if (r->channel)
        ares_destroy(r->channel);
    ares_library_cleanup();
    free(r->cache);
}

/* --- the cache */

static struct resolver_entry *
resolver_cached(struct resolver *r, const char *name)
{
    int64_t now = time_mono_ns();

    for (size_t i = 0; i < RESOLVER_CACHED; i++)
        if (r->cache[i].until_ns > now && !strcmp(r->cache[i].name, name))
            return &r->cache[i];
    return NULL;
}

/* Returns the entry of this name, or the one that expires first. */
static struct resolver_entry *
resolver_entry_for(struct resolver *r, const char *name)
{
    struct resolver_entry *best = r->cache;

    for (size_t i = 0; i < RESOLVER_CACHED; i++) {
        if (!strcmp(r->cache[i].name, name))
            return &r->cache[i];
        if (r->cache[i].until_ns < best->until_ns)
            best = &r->cache[i];
    }
    return best;
}

static void
resolver_keep(struct resolver *r, const char *name,
              const struct resolver_answer *a, int ttl_s)
{
    struct resolver_entry *e = resolver_entry_for(r, name);

    memcpy(e->name, name, strlen(name) + 1);
    e->answer = *a;
    e->until_ns = time_mono_ns() + ttl_s * NS_PER_S;
}

/* --- answers */

static int
resolver_error_of(int status)
{
    switch (status) {
    case ARES_SUCCESS:
        return 0;
    case ARES_ENOTFOUND:
    case ARES_ENODATA:
        return ENOENT;
    default:
        return EAGAIN;
    }
}

static void
resolver_add(struct resolver_answer *a, const struct ares_addrinfo_node *node)
{
    struct in6_addr *to = &a->ip[a->n];

    if (a->n == RESOLVER_ADDRESSES_MAX)
        return;
    if (node->ai_family == AF_INET)
        address_map_v4(
            &((const struct sockaddr_in *)(const void *)node->ai_addr)
                 ->sin_addr,
            to);
    else
        *to = ((const struct sockaddr_in6 *)(const void *)node->ai_addr)
                  ->sin6_addr;
    a->n++;
}

/* Fills in the addresses, IPv4 first. Returns the shortest time that one of
 * them is valid. */
static int
resolver_take(struct resolver_answer *a, const struct ares_addrinfo *info)
{
    static const int families[] = {AF_INET, AF_INET6};
    int ttl_s = TTL_MAX_S;

    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const struct ares_addrinfo_node *node = info->nodes; node;
             node = node->ai_next) {
            if (node->ai_family != families[i])
                continue;
            resolver_add(a, node);
            if (node->ai_ttl < ttl_s)
                ttl_s = node->ai_ttl;
        }
    return ttl_s > 0 ? ttl_s : 1;
}

static void
resolver_answered(void *arg, int status, int timeouts,
                  struct ares_addrinfo *info)
{
    struct resolver_query *q = arg;
    struct resolver_answer a = {.error = resolver_error_of(status)};
    int ttl_s = TTL_FAILED_S;

    (void)timeouts;
    if (!a.error && info)
        ttl_s = resolver_take(&a, info);
    if (!a.error && !a.n)
        a.error = ENOENT;
    if (info)
        ares_freeaddrinfo(info);
    if (status != ARES_EDESTRUCTION)
        resolver_keep(q->resolver, q->name, &a, ttl_s);
    q->done(q->arg, &a);
    free(q);
}

void
resolver_find(struct resolver *r, const char *name, resolver_done *done,
              void *arg)
{
    static const struct ares_addrinfo_hints hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = ARES_AI_NOSORT,
    };
    const struct resolver_entry *known = resolver_cached(r, name);
    struct resolver_query *q = known ? NULL : calloc(1, sizeof *q);

    if (!q) {
        const struct resolver_answer failed = {.error = EAGAIN};
        done(arg, known ? &known->answer : &failed);
        return;
    }
    *q = (struct resolver_query){.resolver = r, .done = done, .arg = arg};
    memcpy(q->name, name, strlen(name) + 1);
    ares_getaddrinfo(r->channel, q->name, NULL, &hints, resolver_answered, q);
}

/* --- waiting */

/* The lower half of the bits is for reading, the upper one for writing. */
size_t
resolver_fill(struct resolver *r, struct pollfd *v)
{
    ares_socket_t hfds[ARES_GETSOCK_MAXNUM];
    unsigned bits =
        (unsigned)ares_getsock(r->channel, hfds, ARES_GETSOCK_MAXNUM);
    size_t n = 0;

    for (int i = 0; i < ARES_GETSOCK_MAXNUM; i++) {
        short events = 0;
        if (bits >> i & 1)
            events |= POLLIN;
        if (bits >> (i + ARES_GETSOCK_MAXNUM) & 1)
            events |= POLLOUT;
        if (events)
            v[n++] = (struct pollfd){.fd = hfds[i], .events = events};
    }
    return n;
}

int
resolver_timeout_ms(struct resolver *r, int max_ms)
{
    struct timeval tv;
    const struct timeval *left = ares_timeout(r->channel, NULL, &tv);

    if (!left || left->tv_sec >= max_ms / 1000)
        return max_ms;
    return (int)(left->tv_sec * 1000 + left->tv_usec / 1000 + 1);
}

void
resolver_run(struct resolver *r, const struct pollfd *v, size_t n)
{
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        if (!v[i].revents)
            continue;
        any = true;
        ares_process_fd(r->channel,
                        v[i].revents & ~POLLOUT ? v[i].fd : ARES_SOCKET_BAD,
                        v[i].revents & POLLOUT ? v[i].fd : ARES_SOCKET_BAD);
    }
    if (!any)
        ares_process_fd(r->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

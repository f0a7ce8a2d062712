/* AF_INET and AF_INET6 names: the loopback addresses of the sandbox.
 *
 * Internally, an address is always IPv6: IPv4 addresses are mapped
 * (::ffff:a.b.c.d). So is the IPv4 wildcard, which therefore differs from the
 * IPv6 wildcard. */
#include "kernel/kernel.h"
#include "kernel/outside.h"
#include "kernel/socket.h"

#include <errno.h>
#include <string.h>

enum {
    DNS_PORT = 53,
    PORT_FIRST = 32768,
    PORT_LAST = 60999,
    OWN_ADDRESS = 0x0a00020f, /* 10.0.2.15, as hosts outside see it */
    SIN6_BYTES_MIN = 24,      /* without the scope, as RFC 2133 had it */
};

/* An address and a port, in the internal form. */
struct endpoint {
    struct in6_addr ip;
    uint16_t port; /* in host order */
};

/* ::ffff:a.b.c.d, as RFC 4291 has it. */
static void
inet_socket_map_v4(uint32_t net_order, struct in6_addr *ret)
{
    *ret = (struct in6_addr){0};
    ret->s6_addr[10] = ret->s6_addr[11] = 0xff;
    memcpy(ret->s6_addr + 12, &net_order, sizeof net_order);
}

static struct endpoint
endpoint_of(const struct sock_addr *a)
{
    struct endpoint e = {0};

    if (a->sa.sa_family == AF_INET) {
        inet_socket_map_v4(a->in.sin_addr.s_addr, &e.ip);
        e.port = ntohs(a->in.sin_port);
    } else {
        e.ip = a->in6.sin6_addr;
        e.port = ntohs(a->in6.sin6_port);
    }
    return e;
}

static bool
inet_socket_is_v4(const struct in6_addr *ip)
{
    return IN6_IS_ADDR_V4MAPPED(ip);
}

static bool
inet_socket_is_wildcard(const struct in6_addr *ip)
{
    struct in6_addr any4;

    inet_socket_map_v4(0, &any4);
    return IN6_IS_ADDR_UNSPECIFIED(ip) || IN6_ARE_ADDR_EQUAL(ip, &any4);
}

static bool
inet_socket_is_loopback(const struct in6_addr *ip)
{
    return inet_socket_is_v4(ip) ? ip->s6_addr[12] == 127
                                 : IN6_IS_ADDR_LOOPBACK(ip);
}

/* Returns the loopback address of the same family as ip. */
static struct in6_addr
inet_socket_loopback_like(const struct in6_addr *ip)
{
    struct in6_addr lo = IN6ADDR_LOOPBACK_INIT;

    if (inet_socket_is_v4(ip))
        inet_socket_map_v4(htonl(INADDR_LOOPBACK), &lo);
    return lo;
}

/* Converts an endpoint to an address of `domain`. */
static void
inet_socket_show(const struct endpoint *e, int domain, struct sock_addr *ret)
{
    *ret = (struct sock_addr){0};
    if (domain == AF_INET6) {
        ret->len = sizeof ret->in6;
        ret->in6.sin6_family = AF_INET6;
        ret->in6.sin6_port = htons(e->port);
        ret->in6.sin6_addr = e->ip;
        return;
    }
    ret->len = sizeof ret->in;
    ret->in.sin_family = AF_INET;
    ret->in.sin_port = htons(e->port);
    memcpy(&ret->in.sin_addr, e->ip.s6_addr + 12, sizeof ret->in.sin_addr);
}

/* A wildcard as a destination means this host, as on Linux. */
static void
inet_view(const struct sock_addr *addr, int domain, struct sock_addr *ret)
{
    struct endpoint e = endpoint_of(addr);

    if (inet_socket_is_wildcard(&e.ip))
        e.ip = inet_socket_loopback_like(&e.ip);
    inet_socket_show(&e, domain, ret);
}

/* Returns 0 if s can use addresses of this family and length. -EINVAL,
 * -EAFNOSUPPORT. */
static int
inet_socket_check_address(const struct socket *s, const struct sock_addr *addr)
{
    size_t need =
        s->domain == AF_INET ? sizeof addr->in : (size_t)SIN6_BYTES_MIN;

    if (addr->len < sizeof addr->sa.sa_family)
        return -EINVAL;
    if (addr->sa.sa_family != s->domain)
        return addr->len < need ? -EINVAL : -EAFNOSUPPORT;
    return addr->len < need ? -EINVAL : 0;
}

/* --- ports */

static struct list *
inet_socket_bucket_of(struct net *n, uint16_t port)
{
    return &n->ports[port % NET_BUCKETS];
}

/* Returns true if a datagram or connection for one of the addresses could also
 * be meant for the other one. The IPv6 wildcard includes IPv4, unless v6only is
 * set. */
static bool
inet_socket_collides(const struct socket *a, const struct socket *b)
{
    struct endpoint x = endpoint_of(&a->local), y = endpoint_of(&b->local);
    bool x_all = IN6_IS_ADDR_UNSPECIFIED(&x.ip) && !a->v6only;
    bool y_all = IN6_IS_ADDR_UNSPECIFIED(&y.ip) && !b->v6only;

    if (x.port != y.port || a->type != b->type)
        return false;
    if (inet_socket_is_v4(&x.ip) != inet_socket_is_v4(&y.ip))
        return x_all || y_all;
    return inet_socket_is_wildcard(&x.ip) || inet_socket_is_wildcard(&y.ip) ||
           IN6_ARE_ADDR_EQUAL(&x.ip, &y.ip);
}

/* SO_REUSEADDR lets sockets share a port while none of them listens;
 * SO_REUSEPORT always does. */
static bool
inet_socket_may_share(const struct socket *a, const struct socket *b)
{
    if (a->reuse_port && b->reuse_port)
        return true;
    if (!a->reuse_addr || !b->reuse_addr)
        return false;
    return a->state != SOCK_LISTENING && b->state != SOCK_LISTENING;
}

/* Only sockets with this very port are compared in detail. */
static bool
inet_socket_is_port_taken(const struct socket *s, uint16_t port)
{
    LIST_FOR_EACH(it, inet_socket_bucket_of(s->kernel->net, port)) {
        struct socket *other = CONTAINER_OF(it, struct socket, bound);
        /* At the same place in both kinds of addresses; a bucket can be long.
         */
        if (other->local.in.sin_port != htons(port))
            continue;
        if (other != s && inet_socket_collides(s, other) &&
            !inet_socket_may_share(s, other))
            return true;
    }
    return false;
}

static void
inet_socket_set_port(struct socket *s, uint16_t port)
{
    if (s->domain == AF_INET)
        s->local.in.sin_port = htons(port);
    else
        s->local.in6.sin6_port = htons(port);
}

uint16_t
inet_next_port(struct net *n)
{
    return (uint16_t)(PORT_FIRST +
                      n->next_port++ % (PORT_LAST - PORT_FIRST + 1));
}

/* Sets a free port of the ephemeral range. Numbers are given out in turn, so
 * that a port is not reused at once. */
static int
inet_socket_choose_port(struct socket *s)
{
    for (uint32_t i = PORT_FIRST; i <= PORT_LAST; i++) {
        uint16_t port = inet_next_port(s->kernel->net);
        inet_socket_set_port(s, port);
        if (!inet_socket_is_port_taken(s, port))
            return 0;
    }
    return -EADDRINUSE;
}

/* Binds s to s->local; port 0 means any free one. On failure s has no name. */
static int
inet_socket_take_name(struct socket *s)
{
    struct endpoint e = endpoint_of(&s->local);
    int r = 0;

    if (!e.port)
        r = inet_socket_choose_port(s);
    else if (inet_socket_is_port_taken(s, e.port))
        r = -EADDRINUSE;
    if (r < 0) {
        s->local = (struct sock_addr){0};
        return r;
    }
    e = endpoint_of(&s->local);
    s->is_bound = true;
    list_push_back(inet_socket_bucket_of(s->kernel->net, e.port), &s->bound);
    return 0;
}

/* Only loopback addresses exist. Ports below 1024 need root, as on Linux. */
static int
inet_bind(struct socket *s, struct task *t, const struct sock_addr *addr)
{
    struct endpoint e;
    int r = inet_socket_check_address(s, addr);

    (void)t;
    if (r < 0)
        return r;
    e = endpoint_of(addr);
    if (s->is_bound)
        return -EINVAL;
    if (!inet_socket_is_wildcard(&e.ip) && !inet_socket_is_loopback(&e.ip))
        return -EADDRNOTAVAIL;
    if (s->domain == AF_INET6 && s->v6only && inet_socket_is_v4(&e.ip))
        return -EINVAL;
    if (e.port && e.port < IPPORT_RESERVED && t->as.cred.uid != 0)
        return -EACCES;
    inet_socket_show(&e, s->domain, &s->local);
    return inet_socket_take_name(s);
}

/* A socket that sends or connects without a name gets a port of its own. */
static int
inet_autobind(struct socket *s)
{
    struct endpoint any = {0};

    if (s->is_bound)
        return 0;
    if (s->domain == AF_INET)
        inet_socket_map_v4(0, &any.ip);
    inet_socket_show(&any, s->domain, &s->local);
    int r = inet_socket_take_name(s);
    s->is_autobound = r == 0;
    return r;
}

/* Sockets may share a port, but only one of them may listen. */
static int
inet_listen(struct socket *s)
{
    int r = inet_autobind(s);

    if (r < 0)
        return r;
    struct endpoint local = endpoint_of(&s->local);
    LIST_FOR_EACH(it, inet_socket_bucket_of(s->kernel->net, local.port)) {
        struct socket *other = CONTAINER_OF(it, struct socket, bound);
        if (other != s && other->state == SOCK_LISTENING &&
            inet_socket_collides(s, other) && !inet_socket_may_share(s, other))
            return -EADDRINUSE;
    }
    return 0;
}

static void
inet_unbind(struct socket *s)
{
    list_remove(&s->bound);
    s->local = (struct sock_addr){0};
    s->is_bound = s->is_autobound = false;
}

/* --- finding */

/* Returns how specifically s matches the destination `to`; 0: not at all. A
 * datagram goes to the socket that matches best: connected to the sender before
 * unconnected, a specific address before a wildcard. */
static int
inet_socket_score(const struct socket *s, const struct endpoint *to,
                  const struct endpoint *from)
{
    struct endpoint local = endpoint_of(&s->local);
    int points = 1;

    if (local.port != to->port)
        return 0;
    if (IN6_IS_ADDR_UNSPECIFIED(&local.ip)) {
        if (inet_socket_is_v4(&to->ip) && s->v6only)
            return 0;
    } else if (inet_socket_is_wildcard(&local.ip)) {
        if (!inet_socket_is_v4(&to->ip))
            return 0;
    } else if (IN6_ARE_ADDR_EQUAL(&local.ip, &to->ip)) {
        points = 2;
    } else {
        return 0;
    }
    if (s->type == SOCK_STREAM)
        return s->state == SOCK_LISTENING ? points : 0;
    if (s->state != SOCK_CONNECTED)
        return points;
    struct endpoint peer = endpoint_of(&s->remote);
    bool is_peer =
        peer.port == from->port && IN6_ARE_ADDR_EQUAL(&peer.ip, &from->ip);
    return is_peer ? points + 2 : 0;
}

/* Returns the source address of messages from s to `to`. Loopback traffic comes
 * from the address that it is sent to, unless the socket is bound to one. */
static struct endpoint
inet_socket_source_of(const struct socket *s, const struct endpoint *to)
{
    struct endpoint from = {.ip = inet_socket_loopback_like(&to->ip)};

    if (!s->is_bound)
        return from;
    struct endpoint local = endpoint_of(&s->local);
    from.port = local.port;
    if (!inet_socket_is_wildcard(&local.ip))
        from.ip = local.ip;
    return from;
}

/* Returns the socket that matches a destination best, or NULL. */
static struct socket *
inet_find_best(struct kernel *k, int type, const struct endpoint *to,
               const struct endpoint *from)
{
    struct socket *best = NULL;
    int best_score = 0;

    LIST_FOR_EACH(it, inet_socket_bucket_of(k->net, to->port)) {
        struct socket *other = CONTAINER_OF(it, struct socket, bound);
        int points =
            other->type == type ? inet_socket_score(other, to, from) : 0;
        if (points > best_score) {
            best = other;
            best_score = points;
        }
    }
    return best;
}

struct socket *
inet_find_listener(struct kernel *k, uint16_t port)
{
    struct endpoint v4 = {.port = port},
                    v6 = {.ip = IN6ADDR_LOOPBACK_INIT, .port = port};

    if (!k->net)
        return NULL;
    inet_socket_map_v4(htonl(INADDR_LOOPBACK), &v4.ip);
    struct socket *s = inet_find_best(k, SOCK_STREAM, &v4, &v4);
    return s ? s : inet_find_best(k, SOCK_STREAM, &v6, &v6);
}

/* An address of the wrong form is not outside: inet_find refuses it. */
static bool
inet_is_outside(const struct socket *s, const struct sock_addr *addr)
{
    struct endpoint to;

    if (inet_socket_check_address(s, addr) < 0)
        return false;
    to = endpoint_of(addr);
    return !inet_socket_is_wildcard(&to.ip) && !inet_socket_is_loopback(&to.ip);
}

/* Refuses a destination that no socket of the sandbox has. A datagram socket
 * may have the name server as its peer: like one without a receiver, it is
 * found when the socket sends. */
static int
inet_refuse(struct socket *s, struct task *t, const struct sock_addr *addr)
{
    bool has_network = outside_of(s->kernel) && inet_is_outside(s, addr);

    if (has_network && outside_is_name_server(addr))
        return -ECONNREFUSED;
    outside_deny(s->kernel, t->run_tag, addr, has_network ? "udp" : "off");
    return has_network ? -EACCES : -ENETUNREACH;
}

/* A destination outside of the sandbox is recorded as denied by policy. So is a
 * failed query to a name server, the first step to such a destination. */
static int
inet_find(struct socket *s, struct task *t, struct sock_addr *addr,
          struct socket **ret)
{
    int r = inet_socket_check_address(s, addr);

    if (r < 0)
        return r;
    inet_view(addr, s->domain, addr);
    struct endpoint to = endpoint_of(addr),
                    from = inet_socket_source_of(s, &to);
    if (!inet_socket_is_loopback(&to.ip) ||
        (s->v6only && inet_socket_is_v4(&to.ip)))
        return inet_refuse(s, t, addr);
    struct socket *best = inet_find_best(s->kernel, s->type, &to, &from);
    if (!best && to.port == DNS_PORT)
        kernel_deny(s->kernel, t); /* the way to all other hosts */
    if (!best)
        return -ECONNREFUSED;
    *ret = best;
    return 0;
}

/* A wildcard becomes the address that the remote one is reached from. */
static void
inet_connected(struct socket *s)
{
    struct endpoint local = endpoint_of(&s->local);
    struct endpoint remote = endpoint_of(&s->remote);

    if (!inet_socket_is_wildcard(&local.ip))
        return;
    if (inet_is_outside(s, &s->remote))
        inet_socket_map_v4(htonl(OWN_ADDRESS), &local.ip);
    else
        local.ip = inet_socket_loopback_like(&remote.ip);
    inet_socket_show(&local, s->domain, &s->local);
}

const struct sock_family inet_family = {
    .domain = AF_INET,
    .bind = inet_bind,
    .autobind = inet_autobind,
    .listen = inet_listen,
    .unbind = inet_unbind,
    .is_outside = inet_is_outside,
    .find = inet_find,
    .connected = inet_connected,
    .view = inet_view,
};

/* Socket options. Those without a meaning between the processes of one
 * sandbox are accepted and have a fixed value. */
#include "kernel/kernel.h"
#include "kernel/outside.h"
#include "kernel/socket.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>

/* The guest's timeouts have 64-bit times under numbers of their own. */
enum {
    GUEST_RCVTIMEO = 66,
    GUEST_SNDTIMEO = 67,
    OLD_RCVTIMEO = 20,
    OLD_SNDTIMEO = 21,
};

enum { US_PER_S = 1000000, NS_PER_US = 1000, TTL_DEFAULT = 64 };

/* A value on its way to or from the guest. */
struct optval {
    uint32_t len;
    union {
        int32_t i;
        struct linger linger;
        struct sock_cred cred;
        int64_t time64[2];
        int32_t time32[2];
    };
};

/* --- options that are one flag of the socket */

/* Returns the member behind a flag, or NULL for other options. */
static bool *
socket_opt_flag_of(struct socket *s, int level, int name)
{
    if (level == IPPROTO_TCP)
        return name == TCP_NODELAY ? &s->nodelay : NULL;
    if (level == IPPROTO_IPV6)
        return name == IPV6_V6ONLY ? &s->v6only : NULL;
    if (level != SOL_SOCKET)
        return NULL;
    switch (name) {
    case SO_REUSEADDR:
        return &s->reuse_addr;
    case SO_REUSEPORT:
        return &s->reuse_port;
    case SO_KEEPALIVE:
        return &s->keepalive;
    case SO_BROADCAST:
        return &s->broadcast;
    case SO_PASSCRED:
        return &s->passcred;
    case SO_OOBINLINE:
        return &s->oobinline;
    default:
        return NULL;
    }
}

/* --- options that are accepted without effect, and their values */

/* An option without effect. Its value cannot be changed, but setting it
 * succeeds. */
struct fixed {
    int level, name, value;
};

static const struct fixed fixed_options[] = {
    {SOL_SOCKET, SO_DEBUG, 0},
    {SOL_SOCKET, SO_DONTROUTE, 0},
    {SOL_SOCKET, SO_PRIORITY, 0},
    {SOL_SOCKET, SO_RCVLOWAT, 1},
    {SOL_SOCKET, SO_TIMESTAMP, 0},
    {IPPROTO_TCP, TCP_MAXSEG, 65483},
    {IPPROTO_TCP, TCP_CORK, 0},
    {IPPROTO_TCP, TCP_KEEPIDLE, 7200},
    {IPPROTO_TCP, TCP_KEEPINTVL, 75},
    {IPPROTO_TCP, TCP_KEEPCNT, 9},
    {IPPROTO_TCP, TCP_SYNCNT, 6},
    {IPPROTO_TCP, TCP_LINGER2, 60},
    {IPPROTO_TCP, TCP_DEFER_ACCEPT, 0},
    {IPPROTO_TCP, TCP_QUICKACK, 1},
    {IPPROTO_TCP, TCP_USER_TIMEOUT, 0},
    {IPPROTO_TCP, TCP_FASTOPEN, 0},
    {IPPROTO_IP, IP_TOS, 0},
    {IPPROTO_IP, IP_TTL, TTL_DEFAULT},
    {IPPROTO_IP, IP_RECVERR, 0},
    {IPPROTO_IP, IP_MTU_DISCOVER, 1},
    {IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 0},
    {IPPROTO_IPV6, IPV6_UNICAST_HOPS, TTL_DEFAULT},
    {IPPROTO_IPV6, IPV6_TCLASS, 0},
    {IPPROTO_IPV6, IPV6_RECVERR, 0},
};

/* Options of IP and TCP do not exist on Unix sockets. */
static const struct fixed *
fixed_of(const struct socket *s, int level, int name)
{
    if (level != SOL_SOCKET && !socket_is_inet(s))
        return NULL;
    for (size_t i = 0; i < sizeof fixed_options / sizeof *fixed_options; i++)
        if (fixed_options[i].level == level && fixed_options[i].name == name)
            return &fixed_options[i];
    return NULL;
}

/* `unknown` is what Linux says to a level that is not one of the socket's. */
static int
socket_opt_check_level(const struct socket *s, int level, int unknown)
{
    if (level == SOL_SOCKET)
        return 0;
    if (!socket_is_inet(s))
        return -EOPNOTSUPP;
    bool is_own = level == IPPROTO_IP ||
                  (level == IPPROTO_IPV6 && s->domain == AF_INET6) ||
                  (level == IPPROTO_TCP && s->protocol == IPPROTO_TCP);
    return is_own ? 0 : unknown;
}

/* --- timeouts */

/* Programs compiled with 32-bit times use the old numbers. */
static bool
socket_opt_is_timeout(int level, int name)
{
    return level == SOL_SOCKET &&
           (name == GUEST_RCVTIMEO || name == GUEST_SNDTIMEO ||
            name == OLD_RCVTIMEO || name == OLD_SNDTIMEO);
}

static int64_t *
socket_opt_timeout_of(struct socket *s, int name)
{
    return name == GUEST_RCVTIMEO || name == OLD_RCVTIMEO ? &s->rcvtimeo_ns
                                                          : &s->sndtimeo_ns;
}

static bool
socket_opt_is_old_timeout(int name)
{
    return name == OLD_RCVTIMEO || name == OLD_SNDTIMEO;
}

/* A negative or enormous timeout means none, as on Linux. */
static int
socket_opt_set_timeout(struct socket *s, int name, const struct optval *v)
{
    bool is_old = socket_opt_is_old_timeout(name);
    int64_t sec = is_old ? v->time32[0] : v->time64[0];
    int64_t usec = is_old ? v->time32[1] : v->time64[1];

    if (v->len < (is_old ? sizeof v->time32 : sizeof v->time64))
        return -EINVAL;
    if (usec < 0 || usec >= US_PER_S)
        return -EDOM;
    if (sec < 0 || sec > INT32_MAX)
        sec = usec = 0;
    *socket_opt_timeout_of(s, name) = sec * NS_PER_S + usec * NS_PER_US;
    return 0;
}

/* The value has the form that its number stands for. */
static void
socket_opt_get_timeout(struct socket *s, int name, struct optval *v)
{
    int64_t ns = *socket_opt_timeout_of(s, name);
    int64_t sec = ns / NS_PER_S, usec = ns % NS_PER_S / NS_PER_US;

    if (socket_opt_is_old_timeout(name)) {
        v->time32[0] = (int32_t)sec;
        v->time32[1] = (int32_t)usec;
        v->len = sizeof v->time32;
        return;
    }
    v->time64[0] = sec;
    v->time64[1] = usec;
    v->len = sizeof v->time64;
}

/* --- setting */

/* Returns the size of a buffer: twice the requested size, within bounds, as on
 * Linux. */
static size_t
socket_opt_buffer_bytes(int32_t asked)
{
    uint64_t n = asked < 0 ? 0 : (uint64_t)asked * 2;

    if (n > SOCKET_BUFFER_BYTES_MAX)
        n = SOCKET_BUFFER_BYTES_MAX;
    return n < SOCKET_BUFFER_BYTES_MIN ? SOCKET_BUFFER_BYTES_MIN : (size_t)n;
}

/* Sizes beyond the maximum would need rights (the FORCE variants), as on
 * Linux. */
static int
socket_opt_set_other(struct socket *s, int name, const struct optval *v)
{
    switch (name) {
    case SO_SNDBUF:
        s->sndbuf = socket_opt_buffer_bytes(v->i);
        return 0;
    case SO_RCVBUF:
        s->rcvbuf = socket_opt_buffer_bytes(v->i);
        return 0;
    case SO_SNDBUFFORCE:
    case SO_RCVBUFFORCE:
        return -EPERM;
    case SO_LINGER:
        if (v->len < sizeof v->linger)
            return -EINVAL;
        s->linger = v->linger;
        return 0;
    default:
        return -ENOPROTOOPT;
    }
}

/* The value is copied once, as many bytes of it as any option has. */
int
socket_setopt(struct socket *s, struct task *t, int level, int name, gaddr at,
              uint32_t len)
{
    struct optval v = {.len = len};
    int r = socket_opt_check_level(s, level, -ENOPROTOOPT);

    if (r < 0)
        return r;
    if (len > INT32_MAX || len < sizeof v.i)
        return -EINVAL;
    r = copy_from_guest(t, v.time64, at,
                        len < sizeof v.time64 ? len : sizeof v.time64);
    if (r < 0)
        return r;
    if (socket_opt_is_timeout(level, name))
        return socket_opt_set_timeout(s, name, &v);
    if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY && s->is_bound)
        return -EINVAL;
    bool *flag = socket_opt_flag_of(s, level, name);
    if (flag) {
        *flag = v.i != 0;
        return 0;
    }
    if (fixed_of(s, level, name))
        return 0;
    return level == SOL_SOCKET ? socket_opt_set_other(s, name, &v)
                               : -ENOPROTOOPT;
}

/* --- getting */

/* Reading SO_ERROR clears it. */
static int
socket_opt_get_other(struct socket *s, int name, struct optval *v)
{
    switch (name) {
    case SO_TYPE:
        v->i = s->type;
        return 0;
    case SO_DOMAIN:
        v->i = s->domain;
        return 0;
    case SO_PROTOCOL:
        v->i = s->protocol;
        return 0;
    case SO_ERROR:
        v->i = -(s->out ? outside_take_error(s) : socket_take_error(s));
        return 0;
    case SO_ACCEPTCONN:
        v->i = s->state == SOCK_LISTENING;
        return 0;
    case SO_SNDBUF:
        v->i = (int32_t)s->sndbuf;
        return 0;
    case SO_RCVBUF:
        v->i = (int32_t)s->rcvbuf;
        return 0;
    case SO_SNDLOWAT:
        v->i = 1;
        return 0;
    case SO_LINGER:
        v->linger = s->linger;
        v->len = sizeof v->linger;
        return 0;
    case SO_PEERCRED:
        v->cred = s->peer_cred;
        v->len = sizeof v->cred;
        return 0;
    default:
        return -ENOPROTOOPT;
    }
}

/* Timeouts first: their numbers are those of no flag. */
static int
socket_opt_get_value(struct socket *s, int level, int name, struct optval *v)
{
    const bool *flag = socket_opt_flag_of(s, level, name);
    const struct fixed *fixed = fixed_of(s, level, name);

    if (socket_opt_is_timeout(level, name)) {
        socket_opt_get_timeout(s, name, v);
        return 0;
    }
    if (flag || fixed) {
        v->i = flag ? *flag : fixed->value;
        return 0;
    }
    return level == SOL_SOCKET ? socket_opt_get_other(s, name, v)
                               : -ENOPROTOOPT;
}

/* A short buffer gets the first bytes of the value. */
int
socket_getopt(struct socket *s, struct task *t, int level, int name, gaddr at,
              uint32_t *len)
{
    struct optval v = {.len = sizeof v.i};
    int r = socket_opt_check_level(s, level, -EOPNOTSUPP);

    if (r < 0)
        return r;
    if (*len > INT32_MAX)
        return -EINVAL;
    r = socket_opt_get_value(s, level, name, &v);
    if (r < 0)
        return r;
    *len = *len < v.len ? *len : v.len;
    return copy_to_guest(t, at, v.time64, *len);
}

/* Files of /proc/net: sockets, devices and routes, in Linux's own form.
 *
 * ss, netstat and lsof read them. They find the process of a socket by its
 * inode number, which they compare with the links in /proc/<pid>/fd. Fields for
 * retransmission, timers and pointers are constant: there is no such state
 * here. */
#include "kernel/outside.h"
#include "kernel/proc/procfs_impl.h"
#include "kernel/socket.h"

#include <string.h>

/* As in Linux's include/net/tcp_states.h. */
enum {
    STATE_ESTABLISHED = 1,
    STATE_SYN_SENT = 2,
    STATE_CLOSE = 7,
    STATE_CLOSE_WAIT = 8,
    STATE_LISTEN = 10,
};

/* A connection whose peer is gone waits to be closed. */
static unsigned
proc_net_state(const struct socket *s)
{
    switch (s->state) {
    case SOCK_LISTENING:
        return STATE_LISTEN;
    case SOCK_CONNECTING:
        return STATE_SYN_SENT;
    case SOCK_CONNECTED:
        return s->peer || s->type == SOCK_DGRAM ? STATE_ESTABLISHED
                                                : STATE_CLOSE_WAIT;
    default:
        return STATE_CLOSE;
    }
}

/* Writes an address and a port. The words of the address are in the order of
 * the machine, as Linux prints them. */
static void
proc_net_put_address(struct buf *b, int domain, const struct sock_addr *a)
{
    uint32_t words[4] = {0};
    unsigned port = 0;

    if (a->len && domain == AF_INET6) {
        memcpy(words, &a->in6.sin6_addr, sizeof words);
        port = ntohs(a->in6.sin6_port);
    } else if (a->len) {
        words[0] = a->in.sin_addr.s_addr;
        port = ntohs(a->in.sin_port);
    }
    for (int i = 0; i < (domain == AF_INET6 ? 4 : 1); i++)
        buf_printf(b, "%08X", words[i]);
    buf_printf(b, ":%04X ", port);
}

/* A connection that was not accepted yet has no file, and no number. */
static unsigned long long
proc_net_ino_of(const struct socket *s)
{
    return s->file ? s->file->anon_ino : 0;
}

/* Returns true if the socket has a row. An unconnected stream socket has
 * none. */
static bool
proc_net_is_listed(const struct socket *s, int domain, int type)
{
    if (s->domain != domain || s->type != type)
        return false;
    return type == SOCK_STREAM ? s->state != SOCK_IDLE : s->is_bound;
}

/* The columns are those of Linux; programs parse them by position. The receive
 * queue of a listening socket is the number of connections that wait for
 * accept, and otherwise the number of bytes to read. The send queue is always
 * empty, as data goes into the queue of the receiver at once. */
static int
proc_net_list(const struct proc_ask *a, struct buf *b, int domain, int type)
{
    bool is_udp = type == SOCK_DGRAM;
    const int wide = domain == AF_INET6 ? 38 : 14;
    int n = 0;

    buf_printf(b,
               "  sl  %-*s%-*sst tx_queue rx_queue tr tm->when retrnsmt"
               "   uid  timeout inode%s\n",
               wide, "local_address", wide, "rem_address",
               is_udp ? " ref pointer drops" : "");
    if (!a->kernel->net)
        return 0;
    LIST_FOR_EACH(it, &a->kernel->net->sockets) {
        const struct socket *s = CONTAINER_OF(it, struct socket, all);
        if (!proc_net_is_listed(s, domain, type))
            continue;
        size_t waiting =
            s->state == SOCK_LISTENING ? s->n_pending : socket_readable(s);
        buf_printf(b, "%4d: ", n++);
        proc_net_put_address(b, domain, &s->local);
        proc_net_put_address(b, domain, &s->remote);
        buf_printf(b, "%02X 00000000:%08zX 00:00000000 00000000 %5u",
                   proc_net_state(s), waiting, s->cred.uid);
        buf_printf(b, "        0 %llu %s\n", proc_net_ino_of(s),
                   is_udp ? "2 0000000000000000 0"
                          : "1 0000000000000000 100 0 0 10 0");
    }
    return 0;
}

int
proc_net_tcp(const struct proc_ask *a, struct buf *b)
{
    return proc_net_list(a, b, AF_INET, SOCK_STREAM);
}

int
proc_net_tcp6(const struct proc_ask *a, struct buf *b)
{
    return proc_net_list(a, b, AF_INET6, SOCK_STREAM);
}

int
proc_net_udp(const struct proc_ask *a, struct buf *b)
{
    return proc_net_list(a, b, AF_INET, SOCK_DGRAM);
}

int
proc_net_udp6(const struct proc_ask *a, struct buf *b)
{
    return proc_net_list(a, b, AF_INET6, SOCK_DGRAM);
}

/* Writes a name as lsof and netstat expect it: an abstract one begins with
 * '@'. */
static void
proc_net_put_name(struct buf *b, const struct sock_addr *a)
{
    const size_t head = offsetof(struct sockaddr_un, sun_path);
    const char *path = a->un.sun_path;

    if (a->len <= head)
        return;
    size_t len = a->len - head;
    bool is_abstract = !*path;
    buf_puts(b, is_abstract ? " @" : " ");
    buf_add(b, path + is_abstract, is_abstract ? len - 1 : strnlen(path, len));
}

/* /proc/net/unix: all Unix sockets, with a name or without. The states are
 * those of Linux's enum socket_state, and the flag that of a listening socket.
 */
int
proc_net_unix(const struct proc_ask *a, struct buf *b)
{
    enum { ACCEPTS = 0x10000, UNCONNECTED = 1, CONNECTING = 2, CONNECTED = 3 };

    buf_puts(b, "Num       RefCount Protocol Flags    Type St Inode Path\n");
    if (!a->kernel->net)
        return 0;
    LIST_FOR_EACH(it, &a->kernel->net->sockets) {
        const struct socket *s = CONTAINER_OF(it, struct socket, all);
        if (s->domain != AF_UNIX)
            continue;
        unsigned state = s->state == SOCK_CONNECTED    ? CONNECTED
                         : s->state == SOCK_CONNECTING ? CONNECTING
                                                       : UNCONNECTED;
        buf_printf(b,
                   "0000000000000000: 00000002 00000000 %08X %04X %02X %5llu",
                   s->state == SOCK_LISTENING ? ACCEPTS : 0, s->type, state,
                   proc_net_ino_of(s));
        proc_net_put_name(b, &s->local);
        buf_puts(b, "\n");
    }
    return 0;
}

static void
proc_net_put_device(struct buf *b, const char *name)
{
    buf_printf(b, "%6s:", name);
    buf_puts(b, "       0       0    0    0    0     0          0         0"
                "        0       0    0    0    0     0       0          0\n");
}

/* /proc/net/dev: bytes are not counted by device. A sandbox with a network
 * policy has the device that the default route names. */
int
proc_net_dev(const struct proc_ask *a, struct buf *b)
{
    buf_puts(b,
             "Inter-|   Receive                                                "
             "|  Transmit\n face |bytes    packets errs drop fifo frame "
             "compressed multicast|bytes    packets errs drop fifo colls "
             "carrier compressed\n");
    proc_net_put_device(b, "lo");
    if (outside_of(a->kernel))
        proc_net_put_device(b, "eth0");
    return 0;
}

/* /proc/net/route: programs recognise a sandbox without a network by the
 * missing default route. */
int
proc_net_route(const struct proc_ask *a, struct buf *b)
{
    enum { GATEWAY = 0x0202000a /* 10.0.2.2 */, UP_AND_GATEWAY = 3 };

    buf_puts(b, "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\t"
                "Mask\t\tMTU\tWindow\tIRTT\n");
    if (outside_of(a->kernel))
        buf_printf(b,
                   "eth0\t00000000\t%08X\t%04X\t0\t0\t0\t00000000\t0\t0\t0\n",
                   GATEWAY, UP_AND_GATEWAY);
    return 0;
}

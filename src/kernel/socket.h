/* Sockets: the part that all families share. All traffic stays inside the
 * sandbox, unless it has a network: see outside.h.
 *
 * A socket belongs to its file or, before accept, to its listener. Connected
 * sockets refer to each other by `peer`. The list `peers` of a socket contains
 * all sockets whose peer it is, so that none keeps a pointer to a freed one.
 * Received data waits in the socket's own queue. */
#ifndef KERNEL_SOCKET_H
#define KERNEL_SOCKET_H

#include "base/list.h"
#include "base/own.h"
#include "kernel/iov.h"
#include "kernel/vfs/vfs.h"
#include "kernel/wait.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct file;
struct kernel;
struct net;
struct packet;
struct outside_end;
struct socket;
struct task;

#define SOCKET_BUFFER_BYTES     212992
#define SOCKET_BUFFER_BYTES_MIN 4608
#define SOCKET_BUFFER_BYTES_MAX 425984
#define SCM_FILES_MAX           253

/* An address, in the layout of the guest. */
struct sock_addr {
    uint32_t len; /* 0: none */
    union {
        struct sockaddr sa;
        struct sockaddr_un un;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        uint8_t bytes[128];
    };
};

struct sock_cred {
    int32_t pid;
    uint32_t uid, gid;
};

/* Ancillary data. */
struct scm {
    struct file **files; /* n_files references, allocated */
    size_t n_files;
    struct sock_cred cred;
};
/* Puts the files. The object can be used again. */
void scm_fini(struct scm *c);

/* One message to send or to receive. */
struct sock_msg {
    struct iov data;
    size_t len;
    int flags;     /* MSG_*, in */
    int out_flags; /* MSG_TRUNC, MSG_CTRUNC, out */
    /* Destination (len 0: the peer), or sender. */
    struct sock_addr name;
    struct scm scm;
    /* After -EAGAIN: the queue that is woken when a retry is useful. */
    struct waitq *wait;
};

enum sock_state {
    SOCK_IDLE,
    SOCK_LISTENING,
    SOCK_CONNECTING, /* waits for space in a listener's backlog */
    SOCK_CONNECTED,  /* also after the peer is gone */
};

enum { SHUT_BIT_RD = 1, SHUT_BIT_WR = 2, SHUT_BITS = 3 };

/* The operations that depend on the family: its names. */
struct sock_family {
    int domain;
    /* Binds s to addr. */
    int (*bind)(struct socket *s, struct task *t, const struct sock_addr *addr);
    /* Gives s a name chosen by the system if it has none. */
    int (*autobind)(struct socket *s);
    /* Makes s reachable by its name. */
    int (*listen)(struct socket *s);
    /* Releases the name. */
    void (*unbind)(struct socket *s);
    /* Returns true if addr is outside of the sandbox. NULL: never. */
    bool (*is_outside)(const struct socket *s, const struct sock_addr *addr);
    /* Finds the socket of the same type that addr names; -ECONNREFUSED, ... A
     * wildcard in addr is replaced by its meaning. */
    int (*find)(struct socket *s, struct task *t, struct sock_addr *addr,
                struct socket **ret);
    /* Chooses the local address after s got a remote address. */
    void (*connected)(struct socket *s);
    /* Returns the address of an end of a connection as a socket of `domain`
     * shows it. */
    void (*view)(const struct sock_addr *addr, int domain,
                 struct sock_addr *ret);
};

extern const struct sock_family unix_family, inet_family;
/* Returns the TCP socket that listens on a port of the loopback interface, or
 * NULL. */
struct socket *inet_find_listener(struct kernel *k, uint16_t port);
/* Returns the next port of the ephemeral range, which may be in use. */
uint16_t inet_next_port(struct net *n);

/* A socket of any family and type. Members for one kind only are unused in
 * others. */
struct socket {
    struct kernel *kernel;
    const struct sock_family *family;
    struct list all; /* in net->sockets */
    int domain, type, protocol;
    enum sock_state state;
    unsigned shut;  /* SHUT_BIT_* */
    int error;      /* positive errno, for SO_ERROR and the next call */
    bool is_reset;  /* TCP: the peer has aborted the connection */
    bool was_async; /* the result of a non-blocking connect is unreported */
    /* Woken for anything that poll would report: data, space, errors,
     * connections. */
    struct waitq events;

    struct socket *peer;
    struct outside_end *out; /* a host outside as its peer: outside.h; NULL */
    struct list peers, peer_link;

    struct file *file; /* its owner, or NULL */
    struct list queue; /* struct packet */
    size_t queued;     /* bytes charged for it */
    struct waitq room; /* waiters for space in the queue */
    bool wants_room;   /* the peer's queue was full */

    /* Listeners: connections to accept, and sockets that wait for a slot. */
    struct list pending, stalled, listen_link;
    struct socket *listener; /* of a socket that was not accepted yet */
    size_t n_pending, backlog;

    /* Files in the queue: inflight.c. */
    struct list carried;               /* packets with files */
    struct list carrier_link, gc_link; /* in net->carriers; to be visited */
    uint64_t gc_mark;

    /* Names. */
    struct list bound; /* in a bucket of net, while bound */
    bool is_bound, is_autobound;
    struct sock_addr local, remote;
    struct vnode node; /* a unix socket in a file system; held */
    struct sock_cred cred, peer_cred;

    /* Options. */
    size_t sndbuf, rcvbuf;
    int64_t rcvtimeo_ns, sndtimeo_ns; /* 0: none */
    bool reuse_addr, reuse_port, keepalive, broadcast, passcred, v6only;
    bool nodelay, oobinline;
    struct linger linger;
};

/* --- socket.c */

/* Creates an unconnected socket. -EAFNOSUPPORT, -ESOCKTNOSUPPORT,
 * -EPROTONOSUPPORT, -EPERM (raw sockets), -ENOMEM. */
int socket_new(struct kernel *k, int domain, int type, int protocol,
               OWN struct socket **ret);
/* Closes a socket: the peer is notified, connections that wait are reset, and
 * the name is released. Accepts NULL. */
void socket_free(OWN struct socket *s);
DEFINE_CLEANUP(struct socket *, socket_free)
/* Consumes s, also on failure. flags: O_NONBLOCK. */
int socket_file_new(OWN struct socket *s, uint32_t flags,
                    OWN struct file **ret);
/* -ENOTSOCK, -EBADF. */
int socket_find(struct task *t, int fd, struct file **ret_file,
                struct socket **ret);
/* Returns NULL if f is not a socket. */
struct socket *socket_of_file(const struct file *f);
bool socket_is_stream(const struct socket *s);
bool socket_is_inet(const struct socket *s);
/* Makes b the peer of a, and a connected. */
void socket_join(struct socket *a, struct socket *b);
/* Ends one direction: s has no peer any more. */
void socket_leave_peer(struct socket *s);
/* Sets the credentials that the peer of s sees to those of t. */
void socket_set_cred(struct socket *s, const struct task *t);
/* Returns and clears the pending error: negative errno, or 0. */
int socket_take_error(struct socket *s);

/* --- socket_connect.c: -EAGAIN if the call would have to wait; *ret_wait is
 * the queue to wait on */

/* As listen(2): negative or huge backlogs become the maximum. */
int socket_listen(struct socket *s, struct task *t, int backlog);
int socket_connect(struct socket *s, struct task *t, bool may_wait,
                   struct sock_addr *addr, struct waitq **ret_wait);
/* Puts a connection of the host into the queue of a listener. On failure, the
 * descriptor stays with the caller. -ECONNREFUSED: the queue is full; -ENOMEM
 */
int socket_accept_outside(struct socket *listener, int hfd);
/* Removes the next connection from the queue. */
int socket_accept(struct socket *s, OWN struct socket **ret);
/* As shutdown(2). -EINVAL, -ENOTCONN. */
int socket_shutdown(struct socket *s, int how);
/* Called when the listener is closed. */
void socket_listen_end(struct socket *s);

/* --- socket_io.c */

/* Sends or receives one message, as far as that is possible now. Returns the
 * number of bytes, or -EAGAIN with m->wait set, or -errno. Files that were sent
 * are consumed from m->scm; received ones are owned by it. */
int64_t socket_send(struct socket *s, struct task *t, struct sock_msg *m);
int64_t socket_recv(struct socket *s, struct task *t, struct sock_msg *m);
/* True if the peer's queue has space. */
bool socket_has_room(const struct socket *s);
/* Returns the number of bytes that a read would get (FIONREAD). */
size_t socket_readable(const struct socket *s);
/* Puts a datagram into the queue of s, as if `from` had sent it. It is lost if
 * the queue is full. */
void socket_deliver(struct socket *s, const struct sock_addr *from,
                    const void *p, size_t len);
/* Frees all messages in the queue, with the files in them. */
void socket_drop_queue(struct socket *s);

/* --- socket_opt.c */

/* Set and read one option, in guest memory at `at`. *len is the size of the
 * buffer, and becomes that of the value. -ENOPROTOOPT, -EINVAL, -EFAULT,
 * -EDOM. */
int socket_setopt(struct socket *s, struct task *t, int level, int name,
                  gaddr at, uint32_t len);
int socket_getopt(struct socket *s, struct task *t, int level, int name,
                  gaddr at, uint32_t *len);

/* --- the name spaces of one sandbox (net.c) */

enum { NET_BUCKETS = 256 };

/* Everything that the sockets of one sandbox share. */
struct net {
    struct list sockets;
    struct list names[NET_BUCKETS]; /* bound unix sockets */
    struct list ports[NET_BUCKETS]; /* bound inet sockets */
    uint32_t next_port, next_name;
    struct list carriers; /* sockets with files in their queues */
    size_t n_in_flight, n_suspects;
    uint64_t gc_mark;
    struct packet *garbage; /* packets whose files are to be put */
    bool is_collecting;
    struct packet *spare; /* see packet.h */
    size_t n_spare;
};

/* Returns the kernel's, created at first use; NULL: out of memory. */
struct net *net_need(struct kernel *k);
/* Frees it, with files that only messages in each other's queues refer to. All
 * tasks must be gone. Accepts NULL. */
void net_free(OWN struct net *n);

#endif

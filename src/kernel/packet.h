/* Messages in the queue of a socket. */
#ifndef KERNEL_PACKET_H
#define KERNEL_PACKET_H

#include "base/list.h"
#include "base/own.h"
#include "kernel/socket.h"

#include <stddef.h>
#include <stdint.h>

/* Large packets of streams have this size, and a few of them are kept for reuse
 * while there are sockets. The allocator would return such memory to the host
 * each time, and page faults cost more than copying. */
#define PACKET_KEPT_BYTES (64u << 10)

/* A message, or a part of a stream. Bytes from `start` to `end` were not read
 * yet. */
struct packet {
    struct list link;    /* in socket->queue */
    struct list carrier; /* in socket->carried, while it has files there */
    struct packet *next; /* in net->garbage or net->spare */
    struct kernel *kernel;
    struct scm scm;
    struct sock_addr from; /* of datagrams */
    size_t start, end;     /* the part of data that is used */
    size_t cap;
    uint8_t data[];
};

/* Creates a packet for cap bytes, charged to the memory limit; -ENOMEM. */
int packet_new(struct kernel *k, size_t cap, OWN struct packet **ret);
/* Frees a packet. net_collect puts the files that it carries, later if it is
 * already running: a file in flight may be a socket with files in its queue, to
 * any depth. */
void packet_free(OWN struct packet *p);
/* Returns the cost of the packet for its receiver. */
size_t packet_cost(const struct packet *p);
static inline size_t
packet_len(const struct packet *p)
{
    return p->end - p->start;
}

/* Puts the files of dropped packets, and of packets that nobody can receive. */
void net_collect(struct net *n);

/* --- inflight.c: files in queues. */

/* Updates the in-flight counts of the files in packet p when it is enqueued on
 * s or dequeued from it. */
void inflight_add(struct socket *s, struct packet *p);
void inflight_remove(struct packet *p);
/* Called when only messages refer to f: possibly nobody can receive them. */
void inflight_suspect(struct file *f);
/* Turns the files that nobody can receive into garbage, if there is a
 * suspicion. Returns true if there are any. */
bool inflight_sweep(struct net *n);

/* Frees the packets kept for reuse. */
void net_drop_spare(struct net *n);

#endif

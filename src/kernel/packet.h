/* Messages in the queue of a socket. */
#ifndef KERNEL_PACKET_H
#define KERNEL_PACKET_H

#include "base/list.h"
#include "base/own.h"
#include "kernel/socket.h"

#include <stddef.h>
#include <stdint.h>

/* Large packets of streams have this size, and a few of them are kept for
 * reuse while there are sockets: the allocator would give such memory back to
 * the host each time, and page faults cost more than copying. */
#define PACKET_KEPT_BYTES (64u << 10)

struct packet {
    struct list link;    /* in socket->queue */
    struct list carrier; /* in socket->carried, while it has files there */
    struct packet *next; /* in net->garbage or net->spare */
    struct kernel *kernel;
    struct scm scm;
    struct sock_addr from; /* of datagrams */
    size_t start, end;     /* what is in data */
    size_t cap;
    uint8_t data[];
};

/* Room for cap bytes, charged to the memory limit; -ENOMEM. */
int packet_new(struct kernel *k, size_t cap, OWN struct packet **ret);
/* Files it carries are put by net_collect, never from within this call when
 * that is already at work: a file in flight may be a socket with files in
 * its queue, to any depth. */
void packet_free(OWN struct packet *p);
/* What the packet costs its receiver. */
size_t packet_cost(const struct packet *p);
static inline size_t
packet_len(const struct packet *p)
{
    return p->end - p->start;
}

/* Puts the files of dropped packets, and of those that nobody can receive. */
void net_collect(struct net *n);

/* --- inflight.c: files in queues. */

/* p, with its files, is in the queue of s now; it is no more. */
void inflight_add(struct socket *s, struct packet *p);
void inflight_remove(struct packet *p);
/* Nothing but messages refers to f: it may be that nobody can receive them. */
void inflight_suspect(struct file *f);
/* Makes those garbage that nobody can receive, if there is reason to look;
 * true if there are such. */
bool inflight_sweep(struct net *n);

/* Frees the packets kept for reuse. */
void net_drop_spare(struct net *n);

#endif

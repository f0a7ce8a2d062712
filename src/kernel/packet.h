/* Messages in the queue of a socket. */
#ifndef KERNEL_PACKET_H
#define KERNEL_PACKET_H

#include "base/list.h"
#include "base/own.h"
#include "kernel/socket.h"

#include <stddef.h>
#include <stdint.h>

struct packet {
    struct list link;    /* in socket->queue */
    struct packet *next; /* in net->garbage */
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

/* Puts the files of dropped packets. */
void net_collect(struct net *n);

#endif

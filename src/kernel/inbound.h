/* Ports of the sandbox that the host forwards connections to.
 *
 * A listening socket of the host belongs to a port inside. A connection that it
 * accepts is put into the queue of the guest's listener, like one over the
 * loopback interface. Without a listener, it is closed. */
#ifndef KERNEL_INBOUND_H
#define KERNEL_INBOUND_H

#include "base/own.h"
#include "kernel/kernel.h"

struct inbound {
    struct list link; /* in kernel->inbounds */
    struct kernel *kernel;
    uint16_t port;
    int hfd;
    struct host_watch watch;
    struct waiter on_ready;
};

/* Forwards connections of a listening socket of the host, which must not block.
 * -EEXIST: the port is forwarded already. -ENOMEM */
int inbound_add(struct kernel *k, uint16_t port, OWN int hfd);
struct inbound *inbound_find(const struct kernel *k, uint16_t port);
/* Closes the listening socket; connections stay. */
void inbound_free(OWN struct inbound *i);
void inbound_free_all(struct kernel *k);
/* Passes a connection from outside, which must not block, to the guest's
 * listener on this port, or closes it. Accepts -1. */
void inbound_deliver(struct kernel *k, uint16_t port, OWN int hfd);

#endif

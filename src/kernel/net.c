/* The socket name spaces of one sandbox, and its messages in flight. */
#include "kernel/kernel.h"
#include "kernel/packet.h"
#include "kernel/socket.h"

#include <stdlib.h>

/* Most sandboxes never use a socket, so the tables are created by the first
 * one. */
struct net *
net_need(struct kernel *k)
{
    if (k->net)
        return k->net;
    struct net *n = malloc(sizeof *n);
    if (!n)
        return NULL;
    *n = (struct net){0};
    list_init(&n->sockets);
    list_init(&n->carriers);
    for (int i = 0; i < NET_BUCKETS; i++) {
        list_init(&n->names[i]);
        list_init(&n->ports[i]);
    }
    k->net = n;
    return n;
}

void
net_free(OWN struct net *n)
{
    if (!n)
        return;
    /* Empty all queues before the first file goes: what is left then has no
     * reference but its own. */
    n->is_collecting = true;
    LIST_FOR_EACH(it, &n->sockets)
        socket_drop_queue(CONTAINER_OF(it, struct socket, all));
    n->is_collecting = false;
    net_collect(n);
    net_drop_spare(n);
    free(n);
}

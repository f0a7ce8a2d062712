/* Messages in flight.
 *
 * Putting a file that a message carried may free a socket, whose queue contains
 * further messages with files, and so on. packet_free therefore only adds the
 * message to a list, and net_collect empties that list in a loop: the depth of
 * such a chain is a number and not a stack. */
#include "kernel/packet.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <stdlib.h>

enum { SPARE_MAX = 4 };

size_t
packet_cost(const struct packet *p)
{
    return sizeof *p + p->cap;
}

/* Only packets of the one large size are kept, so any of them fits. */
static struct packet *
packet_take_spare(struct net *n, size_t cap)
{
    struct packet *p = cap == PACKET_KEPT_BYTES ? n->spare : NULL;

    if (!p)
        return NULL;
    n->spare = p->next;
    n->n_spare--;
    return p;
}

/* A packet counts as memory of the sandbox, as long as it is queued. */
int
packet_new(struct kernel *k, size_t cap, OWN struct packet **ret)
{
    size_t size = sizeof(struct packet) + cap;

    if (!limits_charge(&k->limits, LIMIT_memory, size))
        return -ENOMEM;
    struct packet *p = packet_take_spare(k->net, cap);
    if (!p)
        p = malloc(size);
    if (!p) {
        limits_uncharge(&k->limits, LIMIT_memory, size);
        return -ENOMEM;
    }
    *p = (struct packet){.kernel = k, .cap = cap};
    list_init(&p->link);
    list_init(&p->carrier);
    *ret = p;
    return 0;
}

static void
packet_release(OWN struct packet *p)
{
    struct net *n = p->kernel->net;

    limits_uncharge(&p->kernel->limits, LIMIT_memory, sizeof *p + p->cap);
    if (p->cap != PACKET_KEPT_BYTES || n->n_spare == SPARE_MAX) {
        free(p);
        return;
    }
    p->next = n->spare;
    n->spare = p;
    n->n_spare++;
}

void
net_drop_spare(struct net *n)
{
    while (n->spare) {
        struct packet *p = n->spare;
        n->spare = p->next;
        free(p);
    }
    n->n_spare = 0;
}

void
scm_fini(struct scm *c)
{
    for (size_t i = 0; i < c->n_files; i++)
        file_put(c->files[i]);
    free(c->files);
    c->files = NULL;
    c->n_files = 0;
}

void
packet_free(OWN struct packet *p)
{
    struct net *n;

    if (!p)
        return;
    list_remove(&p->link);
    inflight_remove(p);
    if (!p->scm.n_files) {
        packet_release(p);
        return;
    }
    n = p->kernel->net;
    p->next = n->garbage;
    n->garbage = p;
    net_collect(n);
}

/* A sweep may produce new garbage, which may drop the last reference to further
 * files; the loop ends when a sweep finds nothing. */
void
net_collect(struct net *n)
{
    if (n->is_collecting)
        return;
    n->is_collecting = true;
    do {
        while (n->garbage) {
            struct packet *p = n->garbage;
            n->garbage = p->next;
            scm_fini(&p->scm);
            packet_release(p);
        }
    } while (inflight_sweep(n));
    n->is_collecting = false;
}

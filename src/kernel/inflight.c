/* Files in messages that nobody has received yet.
 *
 * Problem: sockets can hold each other through files in their queues. Such a
 * cycle keeps itself alive when no process refers to it any more.
 *
 * Idea: garbage collection by mark and sweep, as Linux does it for Unix
 * sockets. A socket is reachable if something other than messages refers to it,
 * or if it is in the queue of a reachable socket. Files in the queues of all
 * other sockets can never be received and are freed.
 *
 * A file can become unreachable only when it loses its last other reference, so
 * only that starts a collection. Collections are rationed: the cost for each
 * such file stays a few steps. */
#include "kernel/kernel.h"
#include "kernel/packet.h"

enum { FEW = 64 };

void
inflight_add(struct socket *s, struct packet *p)
{
    struct net *n = s->kernel->net;

    if (!p->scm.n_files)
        return;
    for (size_t i = 0; i < p->scm.n_files; i++)
        p->scm.files[i]->in_flight++;
    n->n_in_flight += p->scm.n_files;
    list_push_back(&s->carried, &p->carrier);
    if (list_is_empty(&s->carrier_link))
        list_push_back(&n->carriers, &s->carrier_link);
}

void
inflight_remove(struct packet *p)
{
    if (list_is_empty(&p->carrier))
        return;
    for (size_t i = 0; i < p->scm.n_files; i++)
        p->scm.files[i]->in_flight--;
    p->kernel->net->n_in_flight -= p->scm.n_files;
    list_remove(&p->carrier);
}

void
inflight_suspect(struct file *f)
{
    if (!socket_of_file(f))
        return;
    struct net *n = kernel_of(f->vfs)->net;

    n->n_suspects++;
    net_collect(n);
}

/* --- who is held */

/* A reference that is not a message's is a descriptor, or a running call. A
 * socket that was not accepted yet is reached through its listener. */
static bool
inflight_is_held(const struct socket *s)
{
    const struct file *f = s->listener ? s->listener->file : s->file;

    return !f || f->refs > f->in_flight;
}

/* The number of the collection is the mark, so marks need not be cleared. */
static void
inflight_mark(struct net *n, struct socket *s, struct list *todo)
{
    if (s->gc_mark == n->gc_mark)
        return;
    s->gc_mark = n->gc_mark;
    list_push_back(todo, &s->gc_link);
}

static void
inflight_mark_files(struct net *n, const struct packet *p, struct list *todo)
{
    for (size_t i = 0; i < p->scm.n_files; i++) {
        struct socket *s = socket_of_file(p->scm.files[i]);
        if (s)
            inflight_mark(n, s, todo);
    }
}

/* Marks everything that s holds: sockets in its messages, and connections that
 * wait to be accepted. */
static void
inflight_visit(struct net *n, struct socket *s, struct list *todo)
{
    list_remove(&s->gc_link);
    LIST_FOR_EACH(it, &s->carried)
        inflight_mark_files(n, CONTAINER_OF(it, struct packet, carrier), todo);
    LIST_FOR_EACH(it, &s->pending)
        inflight_mark(n, CONTAINER_OF(it, struct socket, listen_link), todo);
}

/* The list of sockets to visit is a queue in the sockets themselves: marking
 * needs no memory and no recursion, however long the chains are. */
static void
inflight_mark_held(struct net *n)
{
    struct list todo;

    list_init(&todo);
    n->gc_mark++;
    LIST_FOR_EACH(it, &n->carriers) {
        struct socket *s = CONTAINER_OF(it, struct socket, carrier_link);
        if (inflight_is_held(s))
            inflight_mark(n, s, &todo);
    }
    while (!list_is_empty(&todo))
        inflight_visit(n, CONTAINER_OF(todo.next, struct socket, gc_link),
                       &todo);
}

/* Moves the packets with files out of its queue. */
static void
inflight_drop_carried(struct net *n, struct socket *s)
{
    while (!list_is_empty(&s->carried)) {
        struct packet *p =
            CONTAINER_OF(s->carried.next, struct packet, carrier);
        s->queued -= packet_cost(p);
        list_remove(&p->link);
        inflight_remove(p);
        p->next = n->garbage;
        n->garbage = p;
    }
}

/* A collection visits all files in flight. It runs if these are few, or if a
 * quarter of them are suspects: each suspect then pays for a few of them. */
bool
inflight_sweep(struct net *n)
{
    if (!n->n_suspects ||
        (n->n_in_flight > FEW && n->n_suspects < n->n_in_flight / 4))
        return false;
    n->n_suspects = 0;
    inflight_mark_held(n);
    LIST_FOR_EACH_SAFE(it, &n->carriers) {
        struct socket *s = CONTAINER_OF(it, struct socket, carrier_link);
        if (s->gc_mark != n->gc_mark)
            inflight_drop_carried(n, s);
        if (list_is_empty(&s->carried))
            list_remove(&s->carrier_link);
    }
    return n->garbage != NULL;
}

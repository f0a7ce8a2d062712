/* Wait queues.
 *
 * Removing a waiter that is in no queue does nothing, so all cleanup is
 * unconditional. */
#include "kernel/wait.h"

void
waitq_fini(struct waitq *q)
{
    waitq_wake(q);
    while (!list_is_empty(&q->waiters))
        list_remove(q->waiters.next);
}

bool
waitq_is_empty(const struct waitq *q)
{
    return list_is_empty(&q->waiters);
}

void
waitq_add(struct waitq *q, struct waiter *w)
{
    list_push_back(&q->waiters, &w->link);
}

void
waiter_remove(struct waiter *w)
{
    list_remove(&w->link);
}

/* A wake-up may remove any waiter, also of this queue. The waiters are
 * therefore first moved to a separate list, and then removed from its head one
 * by one. */
void
waitq_wake(struct waitq *q)
{
    struct list woken;

    if (list_is_empty(&q->waiters))
        return;
    list_insert_after(&q->waiters, &woken);
    list_remove(&q->waiters);
    while (!list_is_empty(&woken)) {
        struct waiter *w = CONTAINER_OF(woken.next, struct waiter, link);
        list_remove(&w->link);
        if (w->stays)
            list_push_back(&q->waiters, &w->link);
        w->wake(w);
    }
}

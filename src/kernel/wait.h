/* Wait queues: notify a thread, or an epoll set, of a change.
 *
 * Nothing in the kernel blocks. A call that cannot continue adds its thread to
 * the queues of the objects that it waits for, and returns -EWAIT. A wake-up
 * removes the thread from all its queues, and the call is repeated from the
 * start. */
#ifndef KERNEL_WAIT_H
#define KERNEL_WAIT_H

#include "base/list.h"

#include <stdbool.h>

/* Never visible to programs: "wait, then repeat the call". */
#define EWAIT 4095
/* "run the handlers, then repeat the call" (SA_RESTART). */
#define ERESTARTSYS 512
/* The vfork child that made this call is gone: continue as its parent. */
#define EVFORKGONE 4094

struct thread;

/* A queue of waiters, embedded in the object that they wait for. */
struct waitq {
    struct list waiters;
};

/* An entry in a queue, embedded in the object that waits. */
struct waiter {
    struct list link;
    /* Called for each wake-up. A waiter of a thread has been removed from the
     * queue by then; one with `stays` set is still on it. */
    void (*wake)(struct waiter *w);
    bool stays;
};

static inline void
waitq_init(struct waitq *q)
{
    list_init(&q->waiters);
}

/* Wakes and removes all waiters, because the object is gone. */
void waitq_fini(struct waitq *q);
bool waitq_is_empty(const struct waitq *q);
/* Adds a waiter, which must not be in a queue. */
void waitq_add(struct waitq *q, struct waiter *w);
/* Takes a waiter out of its queue; one that is in none is fine. */
void waiter_remove(struct waiter *w);
/* Calls `wake` for all waiters. They may add themselves again, and are not
 * called twice for that. */
void waitq_wake(struct waitq *q);

/* Passed to the poll operation of a file. With `add` NULL, it only asks. */
struct poll_table {
    void (*add)(struct poll_table *pt, struct waitq *q);
};

static inline void
poll_wait(struct poll_table *pt, struct waitq *q)
{
    if (pt && pt->add)
        pt->add(pt, q);
}

#endif

/* Wait queues: how a thread, or an epoll set, learns that something changed.
 *
 * Nothing in the kernel blocks. A call that cannot go on puts its thread on
 * the queues of what it waits for and returns -EWAIT; a wake-up takes the
 * thread off all its queues, and the call is made again from the start. */
#ifndef KERNEL_WAIT_H
#define KERNEL_WAIT_H

#include "base/list.h"

#include <stdbool.h>

/* Never seen by programs: "wait, then make the same call again". */
#define EWAIT 4095
/* "run the handlers, then make the same call again" (SA_RESTART). */
#define ERESTARTSYS 512
/* The vfork child that made this call is gone: go on as its parent. */
#define EVFORKGONE 4094

struct thread;

struct waitq {
    struct list waiters;
};

struct waiter {
    struct list link;
    /* Runs for each wake-up. A waiter of a thread is off the queue by then;
     * one with `stays` set is still on it. */
    void (*wake)(struct waiter *w);
    bool stays;
};

void waitq_init(struct waitq *q);
/* Forgets all waiters: what they waited for is gone; wakes them first. */
void waitq_fini(struct waitq *q);
bool waitq_is_empty(const struct waitq *q);
void waitq_add(struct waitq *q, struct waiter *w);
void waiter_remove(struct waiter *w);
void waitq_wake(struct waitq *q);

/* Passed to the poll operation of a file. `add` NULL: only ask. */
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

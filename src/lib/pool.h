/* The threads of a runtime.
 *
 * Two crews each work on a queue: one for jobs, which may block for long, and
 * one for background processes, with one thread per processor. A thread starts
 * when there is work and no thread is idle. Idle threads end after some
 * seconds, except the last of a crew.
 *
 * One more thread, started when first needed, is the poller: it waits for the
 * deadlines and descriptors of all alarms.
 *
 * `lock` guards everything; no other lock is taken under it. */
#ifndef LIB_POOL_H
#define LIB_POOL_H

#include "base/list.h"
#include "kernel/clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pollfd;
struct pool;

/* Something that a thread should do, embedded in its owner. While it is queued
 * or runs, the owner must keep it. */
struct work {
    struct list link; /* in a crew's queue */
    /* Returns true to be queued again at the end. May free the work if it
     * returns false. */
    bool (*run)(struct work *w);
};

/* The threads of one kind, and their queue. At most max_threads run at a
 * time. */
struct crew {
    struct pool *pool;
    struct list queue;
    pthread_cond_t wake;
    size_t n_queued;
    unsigned n_threads, n_idle, max_threads;
};

/* Adds `work` to the queue of the background crew, once, at a given time or
 * when a descriptor is ready. */
struct alarm {
    struct timer timer;
    struct list link; /* in pool->watching, if there are descriptors */
    struct pool *pool;
    struct work *work;
    struct pollfd *fds;
    size_t n_fds;
};

/* All threads of a runtime. */
struct pool {
    pthread_mutex_t lock;
    struct crew jobs, background;
    struct list workers, ended; /* threads; those in `ended` can be joined */
    pthread_cond_t left;        /* for `n_watchers`: some work is finished */
    unsigned n_watchers;
    bool stops;

    struct clock alarms;
    struct list watching;
    bool has_poller;
    pthread_t poller;
    int poller_hfd; /* eventfd: wakes it */
    int64_t poller_until_ns;
};

int pool_init(struct pool *p, uint32_t max_threads);
/* Finishes the queued work and ends all threads. Must not be called from one of
 * them. */
void pool_fini(struct pool *p);

/* Makes sure that the crew has a thread. Returns 0 or -EAGAIN. */
int crew_ensure(struct crew *c);
/* Queues w; if it is queued already, it stays in its position. */
void crew_add(struct crew *c, struct work *w);
/* Removes w from the queue; returns false if it is not there. */
bool crew_take_back(struct crew *c, struct work *w);
/* Like crew_take_back, and waits until no thread works on it. */
void crew_forget(struct crew *c, struct work *w);

void work_init(struct work *w, bool (*run)(struct work *w));
void alarm_init(struct alarm *a, struct pool *p, struct work *w);
/* Sets the alarm again, for `at_ns` of the host's monotonic clock (NS_NEVER: no
 * time) and for descriptors, which are copied. */
void alarm_set(struct alarm *a, int64_t at_ns, const struct pollfd *fds,
               size_t n);
void alarm_stop(struct alarm *a);

/* --- poller.c, for pool.c; called with the lock held, except poller_fini */
int poller_init(struct pool *p);
void poller_fini(struct pool *p);
void crew_add_locked(struct crew *c, struct work *w);

#endif

/* The threads of a runtime.
 *
 * Two crews take work from a queue each: one for jobs, which may be blocked for
 * long, and one for background processes, with a thread for each processor.
 * Threads are made when there is work and none is idle, and end when they have
 * been idle for some seconds, all but the last of a crew.
 *
 * One more thread, made when it is first needed, is the poller: it waits for
 * the deadlines and descriptors of all alarms.
 *
 * All of it is guarded by `lock`, under which no other lock is taken. */
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

struct work {
    struct list link; /* in a crew's queue */
    /* True: once more, behind what waits. May free the work if it says
     * false. */
    bool (*run)(struct work *w);
};

struct crew {
    struct pool *pool;
    struct list queue;
    pthread_cond_t wake;
    size_t n_queued;
    unsigned n_threads, n_idle, max_threads;
};

/* Adds `work` to the background crew's queue at a time, or when a descriptor
 * is ready; once. */
struct alarm {
    struct timer timer;
    struct list link; /* in pool->watching, if there are descriptors */
    struct pool *pool;
    struct work *work;
    struct pollfd *fds;
    size_t n_fds;
};

struct pool {
    pthread_mutex_t lock;
    struct crew jobs, background;
    struct list workers, ended; /* threads; those in `ended` can be joined */
    pthread_cond_t left;        /* for `n_watchers`: a work is done */
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
/* Does the work that is queued, and ends all threads. Not from one of them. */
void pool_fini(struct pool *p);

/* The crew has a thread at least: 0, or -EAGAIN. */
int crew_ensure(struct crew *c);
/* Queues w, which is not queued yet or stays where it is. */
void crew_add(struct crew *c, struct work *w);
/* Takes w out of the queue; false: it is not there. */
bool crew_take_back(struct crew *c, struct work *w);
/* The same, and waits until no thread is at it. */
void crew_forget(struct crew *c, struct work *w);

void work_init(struct work *w, bool (*run)(struct work *w));
void alarm_init(struct alarm *a, struct pool *p, struct work *w);
/* Sets it anew: for `at_ns` of the host's monotonic clock (NS_NEVER: no time),
 * and for descriptors, which are copied. */
void alarm_set(struct alarm *a, int64_t at_ns, const struct pollfd *fds,
               size_t n);
void alarm_stop(struct alarm *a);

/* --- poller.c, for pool.c; with the lock held, but for poller_fini */
int poller_init(struct pool *p);
void poller_fini(struct pool *p);
void crew_add_locked(struct crew *c, struct work *w);

#endif

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
#ifndef LIB_CREW_H
#define LIB_CREW_H

#include "base/list.h"
#include "kernel/clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pollfd;
struct crews;

/* Something that a thread should do, embedded in its owner. While it is queued
 * or runs, the owner must keep it. */
struct crew_work {
    struct list link; /* in a crew's queue */
    /* Returns true to be queued again at the end. May free the work if it
     * returns false. */
    bool (*run)(struct crew_work *w);
};

/* The threads of one kind, and their queue. At most max_threads run at a
 * time. */
struct crew {
    struct crews *crews;
    struct list queue;
    pthread_cond_t wake;
    size_t n_queued;
    unsigned n_threads, n_idle, max_threads;
};

/* Adds `work` to the queue of the background crew, once, at a given time or
 * when a descriptor is ready. */
struct alarm {
    struct timer timer;
    struct list link; /* in crews->watching, if there are descriptors */
    struct crews *crews;
    struct crew_work *work;
    struct pollfd *fds;
    size_t n_fds;
};

/* All threads of a runtime. */
struct crews {
    pthread_mutex_t lock;
    struct crew jobs, background;
    struct list threads, ended; /* threads; those in `ended` can be joined */
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

/* `max_threads` is the maximum for jobs. Starts no thread yet. 0 or -errno. */
int crews_init(struct crews *p, uint32_t max_threads);
/* Finishes the queued work and ends all threads. Must not be called from one of
 * them. */
void crews_fini(struct crews *p);

/* Makes sure that the crew has a thread. Returns 0 or -EAGAIN. */
int crew_ensure(struct crew *c);
/* Queues w; if it is queued already, it stays in its position. */
void crew_add(struct crew *c, struct crew_work *w);
/* Removes w from the queue; returns false if it is not there. */
bool crew_take_back(struct crew *c, struct crew_work *w);
/* Like crew_take_back, and waits until no thread works on it. */
void crew_forget(struct crew *c, struct crew_work *w);

/* `run` is called on a thread of the crew. An alarm queues `w` when it is due.
 */
void crew_work_init(struct crew_work *w, bool (*run)(struct crew_work *w));
void alarm_init(struct alarm *a, struct crews *p, struct crew_work *w);
/* Sets the alarm again, for `at_ns` of the host's monotonic clock (NS_NEVER: no
 * time) and for descriptors, which are copied. */
void alarm_set(struct alarm *a, int64_t at_ns, const struct pollfd *fds,
               size_t n);
void alarm_stop(struct alarm *a);

/* --- poller.c, for crew.c; called with the lock held, except poller_fini */
int poller_init(struct crews *p);
void poller_fini(struct crews *p);
void crew_add_locked(struct crew *c, struct crew_work *w);

#endif

/* Events that tests wait for, and threads. Tests do not sleep: a thread
 * announces an event, and another one waits for it. */
#ifndef EVENT_H
#define EVENT_H

#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* An event that may happen several times, on any thread. */
struct event {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    int count;
};

#define EVENT_INIT                                             \
    {                                                          \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 \
    }

static inline void
event_happen(struct event *e)
{
    pthread_mutex_lock(&e->lock);
    e->count++;
    pthread_cond_broadcast(&e->cond);
    pthread_mutex_unlock(&e->lock);
}

/* Waits until it has happened n times; a minute is for ever. */
static inline bool
event_wait(struct event *e, int n)
{
    struct timespec until;
    int r = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 60;
    pthread_mutex_lock(&e->lock);
    while (e->count < n && r == 0)
        r = pthread_cond_clockwait(&e->cond, &e->lock, CLOCK_MONOTONIC, &until);
    bool has = e->count >= n;
    pthread_mutex_unlock(&e->lock);
    return has;
}

static inline pthread_t
start(void *(*run)(void *), void *arg)
{
    pthread_t t;

    if (pthread_create(&t, NULL, run, arg) != 0)
        abort();
    return t;
}

/* Returns true if a minute has passed since `began`, which the caller
 * initialises to 0. */
static inline bool
is_too_late(time_t *began)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!*began)
        *began = now.tv_sec;
    return now.tv_sec > *began + 60;
}

#endif

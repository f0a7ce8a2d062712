/* A thread that increments the epoch, so that running machines yield.
 *
 * It parks when no machine has run for a while. Problem: a machine must never
 * run while the ticker is parked. Idea (Dekker's algorithm): each side first
 * writes its own flag and then reads the other's. resume increments the count
 * and then reads is_parked; the ticker sets is_parked and then reads the count.
 * With sequentially consistent atomics at least one of them sees the other, so
 * a missed wake-up is impossible.
 *
 * The ticker starts as parked, without its thread: a process in which nothing
 * has run has no threads. */
#include "engine/ticker.h"

#include "base/os_thread.h"
#include "base/os_time.h"

#include <time.h>

#define IDLE_TICKS 20 /* before it parks */

static void
ticker_park(struct ticker *t)
{
    pthread_mutex_lock(&t->lock);
    t->is_parked = true;
    while (!t->running && !t->stops)
        pthread_cond_wait(&t->wake, &t->lock);
    t->is_parked = false;
    pthread_mutex_unlock(&t->lock);
}

/* For the length of a tick, or until it is stopped. */
static void
ticker_sleep(struct ticker *t)
{
    struct timespec until =
        time_spec(time_mono_ns() + (int64_t)t->tick_us * 1000);

    pthread_mutex_lock(&t->lock);
    if (!t->stops)
        (void)pthread_cond_clockwait(&t->wake, &t->lock, CLOCK_MONOTONIC,
                                     &until);
    pthread_mutex_unlock(&t->lock);
}

/* The number first: a machine that sees the new epoch must see that too. */
void
ticker_tick(struct ticker *t)
{
    t->epoch++;
    wasmtime_engine_increment_epoch(t->wasm);
}

static void *
ticker_run(void *arg)
{
    struct ticker *t = arg;
    unsigned idle = 0;

    while (!t->stops) {
        ticker_sleep(t);
        ticker_tick(t);
        idle = t->running ? 0 : idle + 1;
        if (idle < IDLE_TICKS)
            continue;
        ticker_park(t);
        idle = 0;
    }
    return NULL;
}

void
ticker_unpark(struct ticker *t)
{
    pthread_mutex_lock(&t->lock); /* it waits, or has yet to look */
    pthread_mutex_unlock(&t->lock);
    pthread_cond_signal(&t->wake);
}

bool
ticker_start(struct ticker *t)
{
    pthread_mutex_lock(&t->lock);
    if (!t->has_thread) {
        t->has_thread = !os_thread_start(&t->os_thread, ticker_run, t);
        t->is_parked = !t->has_thread;
    }
    bool has_thread = t->has_thread;
    pthread_mutex_unlock(&t->lock);
    return has_thread;
}

void
ticker_init(struct ticker *t, wasm_engine_t *wasm, uint32_t tick_us)
{
    t->wasm = wasm;
    t->tick_us = tick_us;
    t->is_parked = true;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
}

void
ticker_fini(struct ticker *t)
{
    pthread_mutex_lock(&t->lock);
    t->stops = true;
    pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&t->lock);
    if (t->has_thread)
        pthread_join(t->os_thread, NULL);
}

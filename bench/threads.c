/* Threads: start and join, a hand-over by a condition, a lock that nobody else
 * wants. */
#include "bench.h"

#include <pthread.h>

enum { STARTS = 300, HANDS = 2000, LOCKS = 200000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int whose;

static void *
nothing(void *arg)
{
    return arg;
}

static void
start_often(void)
{
    pthread_t t;

    for (int i = 0; i < STARTS; i++) {
        NEED(pthread_create(&t, NULL, nothing, NULL) == 0);
        NEED(pthread_join(t, NULL) == 0);
    }
}

/* Waits until it may go on, and lets the other one go on. */
static void
alternate(int me)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < HANDS / 2; i++) {
        while (whose != me)
            pthread_cond_wait(&changed, &lock);
        whose = !me;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
}

static void *
other(void *arg)
{
    alternate(1);
    return arg;
}

static void
hand_over(void)
{
    pthread_t t;

    whose = 0;
    NEED(pthread_create(&t, NULL, other, NULL) == 0);
    alternate(0);
    NEED(pthread_join(t, NULL) == 0);
}

/* Another thread exists, so that libc cannot do without the lock. */
static void
lock_often(void)
{
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
}

static pthread_barrier_t end;

static void *
wait_for_end(void *arg)
{
    pthread_barrier_wait(&end);
    return arg;
}

int
main(void)
{
    pthread_t t;

    report("thread create+join", best_ns(start_often, STARTS) / 1000, "us");
    report("condition hand-over", best_ns(hand_over, HANDS) / 1000, "us");
    NEED(pthread_barrier_init(&end, NULL, 2) == 0);
    NEED(pthread_create(&t, NULL, wait_for_end, NULL) == 0);
    report("lock+unlock", best_ns(lock_often, LOCKS), "ns");
    pthread_barrier_wait(&end);
    NEED(pthread_join(t, NULL) == 0);
    return 0;
}

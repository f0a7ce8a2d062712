/* Conditions: signal wakes one, broadcast all, a timed wait ends in time. */
#include "thread.h"

enum { THREADS = 8 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int waiting, tokens, passed;

static void *
take(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&m);
    waiting++;
    while (!tokens)
        CHECK_EQ(pthread_cond_wait(&c, &m), 0);
    tokens--;
    passed++;
    pthread_mutex_unlock(&m);
    return NULL;
}

static void
give(int n, int all)
{
    pthread_mutex_lock(&m);
    tokens += n;
    CHECK_EQ(all ? pthread_cond_broadcast(&c) : pthread_cond_signal(&c), 0);
    pthread_mutex_unlock(&m);
}

static int
read_locked(int *p)
{
    pthread_mutex_lock(&m);
    int v = *p;
    pthread_mutex_unlock(&m);
    return v;
}

static int turn;

static void *
ping(void *arg)
{
    int me = (int)(long)arg;

    for (int i = 0; i < 5000; i++) {
        pthread_mutex_lock(&m);
        while (turn != me)
            pthread_cond_wait(&c, &m);
        turn = !me;
        pthread_cond_signal(&c);
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int
main(void)
{
    pthread_t t[THREADS];

    for (int i = 0; i < THREADS; i++)
        t[i] = thread_start(take, NULL);
    while (read_locked(&waiting) < THREADS)
        sched_yield();
    give(1, 0);
    while (read_locked(&passed) < 1)
        sched_yield();
    give(THREADS - 1, 1);
    for (int i = 0; i < THREADS; i++)
        thread_join(t[i]);
    CHECK_EQ(passed, THREADS);
    CHECK_EQ(tokens, 0);

    struct timespec until = thread_deadline(20);
    double start = now_s();
    pthread_mutex_lock(&m);
    int r;
    while ((r = pthread_cond_timedwait(&c, &m, &until)) == 0)
        ;
    CHECK_EQ(r, ETIMEDOUT);
    CHECK(now_s() - start >= 0.015);
    CHECK_EQ(pthread_mutex_trylock(&m), EBUSY); /* it has the lock again */
    pthread_mutex_unlock(&m);

    pthread_condattr_t a;
    pthread_cond_t mono;
    CHECK_EQ(pthread_condattr_init(&a), 0);
    CHECK_EQ(pthread_condattr_setclock(&a, CLOCK_MONOTONIC), 0);
    CHECK_EQ(pthread_cond_init(&mono, &a), 0);
    OK(clock_gettime(CLOCK_MONOTONIC, &until));
    pthread_mutex_lock(&m);
    CHECK_EQ(pthread_cond_timedwait(&mono, &m, &until), ETIMEDOUT);
    pthread_mutex_unlock(&m);

    t[0] = thread_start(ping, (void *)0);
    t[1] = thread_start(ping, (void *)1);
    thread_join(t[0]);
    thread_join(t[1]);
    return 0;
}

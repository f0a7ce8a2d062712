/* Normal, recursive, error-checking, timed, robust and process-shared mutexes
 * between threads. */
#include "thread.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long shared;

static void *
add(void *arg)
{
    (void)arg;
    for (int i = 0; i < 20000; i++) {
        CHECK_EQ(pthread_mutex_lock(&m), 0);
        long v = shared;
        for (volatile int k = 0; k < 20; k++)
            ;
        shared = v + 1;
        CHECK_EQ(pthread_mutex_unlock(&m), 0);
    }
    return NULL;
}

static void
make(pthread_mutex_t *p, int type, int robust, int pshared)
{
    pthread_mutexattr_t a;

    CHECK_EQ(pthread_mutexattr_init(&a), 0);
    CHECK_EQ(pthread_mutexattr_settype(&a, type), 0);
    CHECK_EQ(pthread_mutexattr_setrobust(&a, robust), 0);
    CHECK_EQ(pthread_mutexattr_setpshared(&a, pshared), 0);
    CHECK_EQ(pthread_mutex_init(p, &a), 0);
    CHECK_EQ(pthread_mutexattr_destroy(&a), 0);
}

static void *
others_view(void *arg)
{
    pthread_mutex_t *p = arg;
    struct timespec until = thread_deadline(20);

    CHECK_EQ(pthread_mutex_trylock(p), EBUSY);
    CHECK_EQ(pthread_mutex_timedlock(p, &until), ETIMEDOUT);
    return NULL;
}

static void *
not_owner(void *arg)
{
    CHECK_EQ(pthread_mutex_unlock(arg), EPERM);
    return NULL;
}

static void *
die_with(void *arg)
{
    CHECK_EQ(pthread_mutex_lock(arg), 0);
    return NULL;
}

static volatile pid_t waiter;

static void *
wait_for(void *arg)
{
    waiter = thread_id();
    CHECK_EQ(pthread_mutex_lock(arg), EOWNERDEAD);
    CHECK_EQ(pthread_mutex_consistent(arg), 0);
    CHECK_EQ(pthread_mutex_unlock(arg), 0);
    return NULL;
}

static volatile int may_die;

static void *
die_later(void *arg)
{
    CHECK_EQ(pthread_mutex_lock(arg), 0);
    may_die = 1;
    thread_await((volatile int *)&waiter);
    thread_await_sleep(waiter);
    return NULL;
}

int
main(void)
{
    pthread_mutex_t rec, err, rob, pub;
    pthread_t t[4];

    for (int i = 0; i < 4; i++)
        t[i] = thread_start(add, NULL);
    for (int i = 0; i < 4; i++)
        thread_join(t[i]);
    CHECK_EQ(shared, 80000);

    CHECK_EQ(pthread_mutex_lock(&m), 0);
    thread_join(thread_start(others_view, &m));
    CHECK_EQ(pthread_mutex_unlock(&m), 0);

    make(&rec, PTHREAD_MUTEX_RECURSIVE, 0, 0);
    CHECK_EQ(pthread_mutex_lock(&rec), 0);
    CHECK_EQ(pthread_mutex_lock(&rec), 0);
    thread_join(thread_start(others_view, &rec));
    thread_join(thread_start(not_owner, &rec));
    CHECK_EQ(pthread_mutex_unlock(&rec), 0);
    thread_join(thread_start(others_view, &rec));
    CHECK_EQ(pthread_mutex_unlock(&rec), 0);

    make(&err, PTHREAD_MUTEX_ERRORCHECK, 0, 0);
    CHECK_EQ(pthread_mutex_lock(&err), 0);
    CHECK_EQ(pthread_mutex_lock(&err), EDEADLK);
    thread_join(thread_start(not_owner, &err));
    CHECK_EQ(pthread_mutex_unlock(&err), 0);
    CHECK_EQ(pthread_mutex_unlock(&err), EPERM);

    make(&rob, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, 0);
    thread_join(thread_start(die_with, &rob));
    CHECK_EQ(pthread_mutex_lock(&rob), EOWNERDEAD);
    CHECK_EQ(pthread_mutex_unlock(&rob), 0);
    CHECK_EQ(pthread_mutex_lock(&rob), ENOTRECOVERABLE);

    make(&pub, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST,
         PTHREAD_PROCESS_SHARED);
    t[0] = thread_start(die_later, &pub);
    thread_await(&may_die);
    t[1] = thread_start(wait_for, &pub);
    thread_join(t[0]);
    thread_join(t[1]);
    CHECK_EQ(pthread_mutex_lock(&pub), 0);
    CHECK_EQ(pthread_mutex_unlock(&pub), 0);
    return 0;
}

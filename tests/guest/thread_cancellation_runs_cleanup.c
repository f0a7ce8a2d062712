/* Cancellation: at cancellation points, deferred while it is disabled, with
 * cleanup handlers in order; blocked calls end. */
#include "thread.h"

static int order[4], n_order;
static volatile int ready, go;
static volatile pid_t tid;
static int fds[2];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void
clean(void *arg)
{
    order[n_order++] = (int)(long)arg;
}

static void
unlock(void *arg)
{
    CHECK_EQ(pthread_mutex_unlock(arg), 0);
    clean((void *)9);
}

static void *
blocked_in_read(void *arg)
{
    char byte;

    (void)arg;
    pthread_cleanup_push(clean, (void *)1);
    pthread_cleanup_push(clean, (void *)2);
    tid = thread_id();
    (void)!read(fds[0], &byte, 1);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *
blocked_in_cond(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&m);
    pthread_cleanup_push(unlock, &m);
    tid = thread_id();
    for (;;)
        pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *
disabled(void *arg)
{
    int old;

    (void)arg;
    CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
    CHECK_EQ(old, PTHREAD_CANCEL_ENABLE);
    ready = 1;
    thread_await(&go);
    pthread_testcancel();
    CHECK_EQ(usleep(1), 0);
    clean((void *)5);
    CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL), 0);
    pthread_testcancel();
    clean((void *)6);
    return NULL;
}

static void *
cancel_self(void *arg)
{
    CHECK_EQ(pthread_cancel(pthread_self()), 0);
    clean((void *)7);
    pthread_testcancel();
    clean((void *)8);
    return arg;
}

static void
reset(void)
{
    tid = 0;
    ready = go = n_order = 0;
}

int
main(void)
{
    pthread_t t;

    OK(pipe(fds));
    t = thread_start(blocked_in_read, NULL);
    thread_await((volatile int *)&tid);
    thread_await_sleep(tid);
    CHECK_EQ(pthread_cancel(t), 0);
    CHECK(thread_join(t) == PTHREAD_CANCELED);
    CHECK_EQ(n_order, 2);
    CHECK_EQ(order[0], 2);
    CHECK_EQ(order[1], 1);

    reset();
    t = thread_start(blocked_in_cond, NULL);
    thread_await((volatile int *)&tid);
    thread_await_sleep(tid);
    CHECK_EQ(pthread_cancel(t), 0);
    CHECK(thread_join(t) == PTHREAD_CANCELED);
    CHECK_EQ(n_order, 1);
    CHECK_EQ(pthread_mutex_trylock(&m), 0);

    reset();
    t = thread_start(disabled, NULL);
    thread_await(&ready);
    CHECK_EQ(pthread_cancel(t), 0);
    go = 1;
    CHECK(thread_join(t) == PTHREAD_CANCELED);
    CHECK_EQ(n_order, 1);
    CHECK_EQ(order[0], 5);

    reset();
    CHECK(thread_join(thread_start(cancel_self, NULL)) == PTHREAD_CANCELED);
    CHECK_EQ(n_order, 1);
    return 0;
}

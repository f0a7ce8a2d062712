/* Threads are created, joined with their result, and detached; each has its own
 * stack, tid and errno, and all share memory and pid. */
#include "thread.h"

enum { THREADS = 40 };
static pid_t tids[THREADS];
static volatile int gone;

static void *
run(void *arg)
{
    long me = (long)arg;
    char local[1000];

    memset(local, (int)me, sizeof local);
    errno = (int)me;
    tids[me] = thread_id();
    for (int i = 0; i < 100; i++) {
        sched_yield();
        CHECK_EQ(errno, me);
        CHECK_EQ(local[i * 9], me);
    }
    CHECK_EQ(getpid(), tids[0] ? getpid() : 0);
    return (void *)(me * 3);
}

static void *
detached(void *arg)
{
    (void)arg;
    gone++;
    return NULL;
}

static void *
detach_self(void *arg)
{
    (void)arg;
    CHECK_EQ(pthread_detach(pthread_self()), 0);
    gone++;
    return NULL;
}

static void *
leave(void *arg)
{
    pthread_exit(arg);
}

int
main(void)
{
    pthread_t t[THREADS];
    pthread_attr_t attr;
    size_t size;
    int state;

    tids[0] = 1;
    for (long i = 0; i < THREADS; i++)
        t[i] = thread_start(run, (void *)i);
    for (long i = 0; i < THREADS; i++)
        CHECK_EQ((long)thread_join(t[i]), i * 3);
    for (int i = 0; i < THREADS; i++) {
        CHECK(tids[i] != getpid());
        for (int j = 0; j < i; j++)
            CHECK(tids[i] != tids[j]);
    }
    CHECK_EQ(thread_id(), getpid());
    CHECK_EQ((long)thread_join(thread_start(leave, (void *)77)), 77);

    CHECK_EQ(pthread_attr_init(&attr), 0);
    CHECK_EQ(pthread_attr_getdetachstate(&attr, &state), 0);
    CHECK_EQ(state, PTHREAD_CREATE_JOINABLE);
    CHECK_EQ(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED), 0);
    CHECK_EQ(pthread_attr_setstacksize(&attr, 1 << 20), 0);
    CHECK_EQ(pthread_attr_getstacksize(&attr, &size), 0);
    CHECK_EQ(size, 1 << 20);
    for (int i = 0; i < 200; i++) {
        CHECK_EQ(pthread_create(&t[0], &attr, detached, NULL), 0);
        while (gone <= i)
            sched_yield();
    }
    gone = 0;
    for (int i = 0; i < 50; i++)
        thread_start(detach_self, NULL);
    while (gone < 50)
        sched_yield();
    return 0;
}

/* The CPU time of a thread, and that of its process. */
#include "thread.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>

enum { BURNT_NS = 20000000 };

static long long
ns_of(clockid_t id)
{
    struct timespec t;

    OK(clock_gettime(id, &t));
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long
usage_us(int who)
{
    struct rusage u;

    OK(getrusage(who, &u));
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000LL +
           u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

static long
switches(int who)
{
    struct rusage u;

    OK(getrusage(who, &u));
    return u.ru_nvcsw + u.ru_nivcsw;
}

enum { SLEEPS = 50 };

static void *
count_switches(void *arg)
{
    (void)arg;
    CHECK(switches(RUSAGE_THREAD) < SLEEPS);
    CHECK(switches(RUSAGE_SELF) >= SLEEPS);
    return NULL;
}

/* A switch counts for the thread that sleeps, and for its process. */
static void
check_switches(void)
{
    struct timespec short_time = {.tv_nsec = 10000};

    for (int i = 0; i < SLEEPS; i++)
        OK(nanosleep(&short_time, NULL));
    CHECK(switches(RUSAGE_THREAD) >= SLEEPS);
    thread_join(thread_start(count_switches, NULL));
}

static volatile int is_done, may_end;

static void *
burn(void *arg)
{
    clockid_t mine;

    (void)arg;
    while (ns_of(CLOCK_THREAD_CPUTIME_ID) < BURNT_NS)
        ;
    CHECK_EQ(pthread_getcpuclockid(pthread_self(), &mine), 0);
    CHECK(ns_of(mine) >= BURNT_NS);
    CHECK(usage_us(RUSAGE_SELF) >= usage_us(RUSAGE_THREAD) - 10000);
    is_done = 1;
    while (!may_end)
        sched_yield();
    return NULL;
}

int
main(void)
{
    long long before = ns_of(CLOCK_THREAD_CPUTIME_ID);
    pthread_t t = thread_start(burn, NULL);
    struct timespec ts;
    clockid_t its, own;

    CHECK_EQ(pthread_getcpuclockid(t, &its), 0);
    CHECK_EQ(pthread_getcpuclockid(pthread_self(), &own), 0);
    thread_await(&is_done);
    long long other = ns_of(its), mine = ns_of(own);
    CHECK(other >= BURNT_NS);
    CHECK(mine >= before);
    CHECK(ns_of(CLOCK_THREAD_CPUTIME_ID) >= mine);
    CHECK(ns_of(CLOCK_PROCESS_CPUTIME_ID) >= other + mine);
    may_end = 1;
    thread_join(t);
    CHECK_EQ(clock_gettime(its, &ts), -1);
    CHECK_EQ(errno, EINVAL);
    check_switches();
    return 0;
}

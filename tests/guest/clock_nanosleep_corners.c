/* clock_nanosleep: moments, remaining times, errors, and clocks of CPU time. */
#include "thread.h"

#include <sys/time.h>

static const struct timespec second = {1, 0};

static void
on_alarm(int sig)
{
}

static long long
ns_of(struct timespec t)
{
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void
errors(void)
{
    struct timespec bad = {0, 1000000000}, negative = {0, -1}, past = {-1, 0};

    CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL), EINVAL);
    CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &negative, NULL), EINVAL);
    CHECK_EQ(clock_nanosleep(CLOCK_REALTIME, 0, &past, NULL), EINVAL);
    CHECK_EQ(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &bad, NULL),
             EINVAL);
    CHECK_EQ(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &second, NULL),
             EINVAL);
    CHECK_EQ(clock_nanosleep(9999, 0, &second, NULL), EINVAL);
}

/* A moment that has passed ends the call at once. */
static void
moments(void)
{
    struct timespec now, zero = {0, 0}, after;

    for (int i = 0; i < 2; i++) {
        clockid_t clock = i ? CLOCK_REALTIME : CLOCK_MONOTONIC;
        CHECK_EQ(clock_nanosleep(clock, TIMER_ABSTIME, &zero, NULL), 0);
        OK(clock_gettime(clock, &now));
        CHECK_EQ(clock_nanosleep(clock, TIMER_ABSTIME, &now, NULL), 0);
        now.tv_nsec += 2000000;
        now.tv_sec += now.tv_nsec / 1000000000;
        now.tv_nsec %= 1000000000;
        CHECK_EQ(clock_nanosleep(clock, TIMER_ABSTIME, &now, NULL), 0);
        OK(clock_gettime(clock, &after));
        CHECK(ns_of(after) >= ns_of(now));
    }
    CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &zero, NULL), 0);
}

/* A handler ends the call. The rest is reported for a duration only. */
static void
interruptions(void)
{
    struct itimerval soon = {.it_value.tv_usec = 2000};
    struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct timespec left = {77, 77}, until;

    OK(sigaction(SIGALRM, &sa, NULL));
    OK(setitimer(ITIMER_REAL, &soon, NULL));
    struct timespec long_time = {1000, 0};
    CHECK_EQ(clock_nanosleep(CLOCK_REALTIME, 0, &long_time, &left), EINTR);
    CHECK(left.tv_sec <= 999 && left.tv_sec > 500);
    CHECK(left.tv_nsec >= 0 && left.tv_nsec < 1000000000);

    left = (struct timespec){77, 77};
    OK(clock_gettime(CLOCK_MONOTONIC, &until));
    until.tv_sec += 1000;
    OK(setitimer(ITIMER_REAL, &soon, NULL));
    CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, &left),
             EINTR);
    CHECK(left.tv_sec == 77 && left.tv_nsec == 77);
}

static volatile int stop;

static void *
worker(void *arg)
{
    while (!stop)
        sched_yield();
    return NULL;
}

/* Another thread uses the CPU time that the call waits for. */
static void
cpu_time(void)
{
    struct timespec some = {0, 3000000}, before, after;
    pthread_t t = thread_start(worker, NULL);

    OK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before));
    CHECK_EQ(clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &some, NULL), 0);
    OK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after));
    CHECK(ns_of(after) - ns_of(before) >= 3000000);
    stop = 1;
    thread_join(t);
}

int
main(void)
{
    errors();
    moments();
    interruptions();
    cpu_time();
    return 0;
}

/* Helpers for tests with threads. */
#ifndef THREAD_H
#define THREAD_H

#include "guest.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>

static UNUSED pid_t
thread_id(void)
{
    return (pid_t)syscall(SYS_gettid);
}

static UNUSED pthread_t
thread_start(void *(*run)(void *), void *arg)
{
    pthread_t t;

    CHECK_EQ(pthread_create(&t, NULL, run, arg), 0);
    return t;
}

static UNUSED void *
thread_join(pthread_t t)
{
    void *result;

    CHECK_EQ(pthread_join(t, &result), 0);
    return result;
}

/* The state of a thread of this process, as /proc shows it. */
static UNUSED char
thread_state(pid_t tid)
{
    char path[64], text[512];

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    get(path, text, sizeof text);
    char *end = strrchr(text, ')');
    CHECK(end != NULL);
    return end[2];
}

/* Waits until the thread sleeps in a system call. */
static UNUSED void
thread_await_sleep(pid_t tid)
{
    while (thread_state(tid) != 'S')
        sched_yield();
}

/* Waits until *flag is not 0, and returns it. */
static UNUSED int
thread_await(volatile int *flag)
{
    while (!*flag)
        sched_yield();
    return *flag;
}

/* The absolute time `ms` from now, on the real-time clock. */
static UNUSED struct timespec
thread_deadline(int ms)
{
    struct timespec t;

    OK(clock_gettime(CLOCK_REALTIME, &t));
    t.tv_nsec += (long)ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

#endif

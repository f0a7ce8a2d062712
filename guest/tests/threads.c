/* SPDX-License-Identifier: MIT */
/* Threads, and locks and keys before and after the first of them. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include "check.h"

static int runs;

static void
count(void)
{
    runs++;
}

static void *
body(void *arg)
{
    return arg;
}

static void
create(void)
{
    pthread_t thread;
    void *result;

    CHECK(pthread_create(&thread, NULL, body, &runs) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    CHECK(result == &runs);
}

static void
mutexes(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, checked;
    pthread_mutexattr_t attr;

    CHECK(pthread_mutex_lock(&m) == 0);
    CHECK(pthread_mutex_trylock(&m) == EBUSY);
    CHECK(pthread_mutex_unlock(&m) == 0);
    CHECK(pthread_mutex_trylock(&m) == 0);
    CHECK(pthread_mutex_unlock(&m) == 0);
    CHECK(pthread_mutexattr_init(&attr) == 0);
    CHECK(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK) == 0);
    CHECK(pthread_mutex_init(&checked, &attr) == 0);
    CHECK(pthread_mutex_lock(&checked) == 0);
    CHECK(pthread_mutex_lock(&checked) == EDEADLK);
    CHECK(pthread_mutex_unlock(&checked) == 0);
    CHECK(pthread_mutex_unlock(&checked) == EPERM);
}

static void
conditions(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    struct timespec at;

    CHECK(pthread_cond_signal(&c) == 0 && pthread_cond_broadcast(&c) == 0);
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += 20000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_nsec -= 1000000000;
        at.tv_sec++;
    }
    CHECK(pthread_mutex_lock(&m) == 0);
    int r = 0;
    while (r == 0) /* it may wake for nothing */
        r = pthread_cond_timedwait(&c, &m, &at);
    CHECK(r == ETIMEDOUT);
    CHECK(pthread_mutex_unlock(&m) == 0);
}

static void
keys(void)
{
    pthread_key_t key;

    CHECK(pthread_key_create(&key, NULL) == 0);
    CHECK(pthread_getspecific(key) == NULL);
    CHECK(pthread_setspecific(key, &runs) == 0);
    CHECK(pthread_getspecific(key) == &runs);
    CHECK(pthread_key_delete(key) == 0);
    CHECK(pthread_equal(pthread_self(), pthread_self()));
}

static void
semaphores(void)
{
    sem_t s;
    int value;

    CHECK(sem_init(&s, 0, 1) == 0);
    CHECK(sem_wait(&s) == 0);
    FAILS(sem_trywait(&s), EAGAIN);
    CHECK(sem_post(&s) == 0 && sem_getvalue(&s, &value) == 0 && value == 1);
    CHECK(sem_destroy(&s) == 0);
}

int
main(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    mutexes();
    create();
    mutexes();
    conditions();
    keys();
    semaphores();
    CHECK(pthread_once(&once, count) == 0 && pthread_once(&once, count) == 0);
    CHECK(runs == 1);
    return 0;
}

/* Handlers, threads and functions for exit that were defined with another
 * parameter list or result are called with what they take. */
#include "thread.h"

#include <signal.h>

static volatile int calls, last;

static void
no_parameter(void)
{
    calls++;
}

static int
with_result(int sig)
{
    calls++;
    last = sig;
    return 7;
}

static int
no_parameter_with_result(void)
{
    calls++;
    return 7;
}

static void
two(int sig, siginfo_t *info)
{
    calls++;
    last = info->si_signo == sig ? sig : -1;
}

static void *
three_with_result(int sig, siginfo_t *info, void *context)
{
    calls++;
    last = info->si_signo == sig && context ? sig : -1;
    return context;
}

static void
one(int sig)
{
    calls++;
    last = sig;
}

/* The handler runs once, and sees its signal if it asks for it. */
static void
check_handler(void *handler, int flags, int sees)
{
    struct sigaction sa = {.sa_flags = flags};
    int before = calls;

    sa.sa_handler = (void (*)(int))handler;
    last = 0;
    OK(sigaction(SIGUSR1, &sa, NULL));
    OK(raise(SIGUSR1));
    CHECK_EQ(calls, before + 1);
    CHECK_EQ(last, sees);
    OK(raise(SIGUSR1));
    CHECK_EQ(calls, before + 2);
}

static void
thread_without_result(void *arg)
{
    *(int *)arg = 1;
}

static void
thread_without_anything(void)
{
    calls++;
}

static void *
thread_without_parameter(void)
{
    return (void *)&calls;
}

static void
check_thread(void *start, void *arg)
{
    pthread_t thread;

    CHECK_EQ(pthread_create(&thread, NULL, (void *(*)(void *))start, arg), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void
check_result(void)
{
    pthread_t thread;
    void *result;

    CHECK_EQ(pthread_create(&thread, NULL,
                            (void *(*)(void *))thread_without_parameter, NULL),
             0);
    CHECK_EQ(pthread_join(thread, &result), 0);
    CHECK(result == (void *)&calls);
}

static int destroyed;

static int
destroy_with_result(void *value)
{
    destroyed += *(int *)value;
    return 1;
}

static void *
sets_key(void *key)
{
    static int value = 5;

    CHECK_EQ(pthread_setspecific(*(pthread_key_t *)key, &value), 0);
    return NULL;
}

static int
at_exit_with_result(void)
{
    return ++calls;
}

int
main(void)
{
    pthread_key_t key;
    int done = 0;

    check_handler((void *)one, 0, SIGUSR1);
    check_handler((void *)no_parameter, 0, 0);
    check_handler((void *)with_result, 0, SIGUSR1);
    check_handler((void *)no_parameter_with_result, 0, 0);
    check_handler((void *)two, SA_SIGINFO, SIGUSR1);
    check_handler((void *)three_with_result, SA_SIGINFO, SIGUSR1);
    check_handler((void *)one, SA_SIGINFO, SIGUSR1);
    check_handler((void *)no_parameter, SA_SIGINFO, 0);

    check_thread((void *)thread_without_result, &done);
    CHECK_EQ(done, 1);
    calls = 0;
    check_thread((void *)thread_without_anything, NULL);
    CHECK_EQ(calls, 1);
    check_result();

    CHECK_EQ(pthread_key_create(&key, (void (*)(void *))destroy_with_result),
             0);
    check_thread((void *)sets_key, &key);
    CHECK_EQ(destroyed, 5);

    CHECK_EQ(atexit((void (*)(void))at_exit_with_result), 0);
    return 0;
}

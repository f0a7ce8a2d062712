/* Masks and pending signals belong to threads: pthread_kill reaches one, kill
 * any that does not block the signal, sigwait takes it. */
#include "thread.h"

static volatile pid_t handled_by;
static volatile int stop, ready;
static volatile pid_t worker;

static void
on_signal(int sig)
{
    (void)sig;
    handled_by = thread_id();
}

static void
block(int how, int sig)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, sig);
    CHECK_EQ(pthread_sigmask(how, &set, NULL), 0);
}

static int
is_pending(int sig)
{
    sigset_t set;

    OK(sigpending(&set));
    return sigismember(&set, sig);
}

static void *
sleeper(void *arg)
{
    (void)arg;
    block(SIG_UNBLOCK, SIGUSR1);
    worker = thread_id();
    while (!stop)
        (void)usleep(1000);
    return NULL;
}

static void *
blocker(void *arg)
{
    block(SIG_BLOCK, SIGUSR2);
    CHECK_EQ(pthread_kill(pthread_self(), SIGUSR2), 0);
    CHECK(is_pending(SIGUSR2));
    handled_by = 0;
    ready = 1;
    thread_await(&stop);
    CHECK_EQ(handled_by, 0);
    block(SIG_UNBLOCK, SIGUSR2);
    CHECK_EQ(handled_by, thread_id());
    return arg;
}

static void *
waits(void *arg)
{
    sigset_t set;
    int sig;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    worker = thread_id();
    CHECK_EQ(sigwait(&set, &sig), 0);
    return (void *)(long)sig + (long)arg;
}

static void
await_handler(pid_t tid)
{
    while (handled_by != tid)
        sched_yield();
    handled_by = 0;
}

int
main(void)
{
    struct sigaction sa = {.sa_handler = on_signal};
    pthread_t t;

    OK(sigaction(SIGUSR1, &sa, NULL));
    OK(sigaction(SIGUSR2, &sa, NULL));

    /* Blocked here: the thread inherits that, and takes it away. */
    block(SIG_BLOCK, SIGUSR1);
    t = thread_start(sleeper, NULL);
    thread_await((volatile int *)&worker);
    OK(kill(getpid(), SIGUSR1));
    await_handler(worker);
    CHECK_EQ(pthread_kill(t, SIGUSR1), 0);
    await_handler(worker);
    CHECK_EQ(syscall(SYS_tgkill, getpid(), worker, SIGUSR1), 0);
    await_handler(worker);
    CHECK_ERR(syscall(SYS_tgkill, getpid() + 1, worker, SIGUSR1), ESRCH);
    CHECK_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
    CHECK(is_pending(SIGUSR1));
    CHECK_EQ(handled_by, 0);
    stop = 1;
    thread_join(t);
    block(SIG_UNBLOCK, SIGUSR1);
    CHECK_EQ(handled_by, getpid());

    stop = 0;
    t = thread_start(blocker, NULL);
    thread_await(&ready);
    CHECK(!is_pending(SIGUSR2)); /* of the other thread */
    stop = 1;
    thread_join(t);

    block(SIG_BLOCK, SIGTERM);
    worker = 0;
    t = thread_start(waits, NULL);
    thread_await((volatile int *)&worker);
    thread_await_sleep(worker);
    OK(kill(getpid(), SIGTERM));
    CHECK_EQ((long)thread_join(t), SIGTERM);
    CHECK(!is_pending(SIGTERM));
    return 0;
}

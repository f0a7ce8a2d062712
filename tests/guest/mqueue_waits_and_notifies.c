/* Threads wait for messages and for space, and a process is notified of the
 * first message of an empty queue, once. */
#include "mqueue.h"

#include <sys/time.h>

static mqd_t queue;
static volatile pid_t tid;
static volatile int notified, value;
static sem_t done;

static void *
receiver(void *arg)
{
    char text[100];

    tid = thread_id();
    CHECK_EQ(mq_receive(queue, text, 100, NULL), 4);
    return NULL;
}

static void *
sender(void *arg)
{
    tid = thread_id();
    mqueue_put(queue, "late", 5);
    return NULL;
}

static void
await_sleeper(void)
{
    while (!tid)
        sched_yield();
    thread_await_sleep(tid);
    tid = 0;
}

static void
threads_wait(void)
{
    pthread_t t = thread_start(receiver, NULL);

    await_sleeper();
    mqueue_put(queue, "text", 0);
    thread_join(t);

    mqueue_put(queue, "a", 0);
    mqueue_put(queue, "b", 0);
    t = thread_start(sender, NULL);
    await_sleeper();
    CHECK_MESSAGE(queue, "a", 0);
    thread_join(t);
    CHECK_MESSAGE(queue, "late", 5);
    CHECK_MESSAGE(queue, "b", 0);
}

static void
on_signal(int sig, siginfo_t *info, void *context)
{
    CHECK_EQ(info->si_code, SI_MESGQ);
    CHECK_EQ(info->si_pid, getpid());
    CHECK_EQ(info->si_uid, getuid());
    value = info->si_value.sival_int;
    notified++;
}

static void
signals(void)
{
    struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGUSR1,
                             .sigev_value.sival_int = 1234};

    OK(sigaction(SIGUSR1, &sa, NULL));
    OK(mq_notify(queue, &event));
    CHECK_ERR(mq_notify(queue, &event), EBUSY);
    mqueue_put(queue, "x", 0);
    CHECK_EQ(notified, 1);
    CHECK_EQ(value, 1234);
    mqueue_put(queue, "y", 0); /* not empty, and no longer registered */
    CHECK_EQ(notified, 1);
    OK(mq_notify(queue, &event));
    CHECK_MESSAGE(queue, "x", 0);
    CHECK_MESSAGE(queue, "y", 0);
    mqueue_put(queue, "z", 0);
    CHECK_EQ(notified, 2);
    CHECK_MESSAGE(queue, "z", 0);

    OK(mq_notify(queue, &event));
    OK(mq_notify(queue, NULL));
    OK(mq_notify(queue, NULL));
    mqueue_put(queue, "w", 0);
    CHECK_EQ(notified, 2);
    CHECK_MESSAGE(queue, "w", 0);

    /* Closing any descriptor ends the registration. */
    OK(mq_notify(queue, &event));
    OK(mq_close(OK(mq_open(mqueue_name, O_RDONLY))));
    OK(mq_notify(queue, &event));
    OK(mq_notify(queue, NULL));
}

/* A thread that waits gets the message, and nobody is notified. */
static void
receivers_come_first(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGUSR1};
    pthread_t t = thread_start(receiver, NULL);
    int before = notified;

    await_sleeper();
    OK(mq_notify(queue, &event));
    mqueue_put(queue, "text", 0);
    thread_join(t);
    CHECK_EQ(notified, before);
    CHECK_ERR(mq_notify(queue, &event), EBUSY);
    OK(mq_notify(queue, NULL));
}

static void
on_thread(union sigval v)
{
    CHECK_EQ(v.sival_int, 77);
    CHECK(thread_id() != getpid());
    OK(sem_post(&done));
}

static void
functions(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD,
                             .sigev_notify_function = on_thread,
                             .sigev_value.sival_int = 77};

    OK(sem_init(&done, 0, 0));
    for (int i = 0; i < 3; i++) {
        OK(mq_notify(queue, &event));
        mqueue_put(queue, "text", 0);
        OK(sem_wait(&done));
        CHECK_MESSAGE(queue, "text", 0);
    }
    OK(mq_notify(queue, &event));
    CHECK_ERR(mq_notify(queue, &event), EBUSY);
    OK(mq_notify(queue, NULL));
    mqueue_put(queue, "text", 0);
    CHECK_MESSAGE(queue, "text", 0);
    CHECK(sem_trywait(&done) < 0);
}

static void
errors(void)
{
    struct sigevent event = {.sigev_notify = 99};

    CHECK_ERR(mq_notify(queue, &event), EINVAL);
    event =
        (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = 1000};
    CHECK_ERR(mq_notify(queue, &event), EINVAL);
    event.sigev_signo = SIGUSR1;
    CHECK_ERR(mq_notify(0, &event), EBADF);
    event = (struct sigevent){.sigev_notify = SIGEV_NONE};
    OK(mq_notify(queue, &event));
    CHECK_ERR(mq_notify(queue, &event), EBUSY);
    OK(mq_notify(queue, NULL));
}

/* A waiting call is interrupted, or continues with SA_RESTART. */
static void
on_alarm(int sig)
{
}

static void
interruptions(void)
{
    struct itimerval soon = {.it_value.tv_usec = 5000};
    struct sigaction sa = {.sa_handler = on_alarm};
    char text[100];

    OK(sigaction(SIGALRM, &sa, NULL));
    OK(setitimer(ITIMER_REAL, &soon, NULL));
    CHECK_ERR(mq_receive(queue, text, 100, NULL), EINTR);
    sa.sa_flags = SA_RESTART;
    OK(sigaction(SIGALRM, &sa, NULL));
    OK(setitimer(ITIMER_REAL, &soon, NULL));
    struct timespec later = thread_deadline(100);
    CHECK_ERR(mq_timedreceive(queue, text, 100, NULL, &later), ETIMEDOUT);
}

int
main(void)
{
    as_user();
    queue = mqueue_new(O_RDWR, 2, 100);
    threads_wait();
    signals();
    receivers_come_first();
    functions();
    errors();
    interruptions();
    return 0;
}

/* Timers on the CPU clocks of the process and of a thread, and timers that
 * signal one thread or call a function. */
#include "thread.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static volatile int fired, value, code, on_tid;
static sem_t done;

static void
on_signal(int sig, siginfo_t *info, void *context)
{
    code = info->si_code;
    value = info->si_value.sival_int;
    on_tid = (int)thread_id();
    fired++;
}

static timer_t
create(clockid_t clock, int value)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGUSR1,
                             .sigev_value.sival_int = value};
    timer_t t;

    OK(timer_create(clock, &event, &t));
    return t;
}

static void
set(timer_t t, int flags, long first_ns, long interval_ns)
{
    struct itimerspec spec = {.it_value.tv_nsec = first_ns,
                              .it_interval.tv_nsec = interval_ns};

    OK(timer_settime(t, flags, &spec, NULL));
}

/* Uses CPU time until n signals have come. Handlers run in system calls. */
static void
work_until(int n)
{
    while (fired < n)
        for (volatile int i = 0; i < 1000; i++)
            if (i == 999)
                (void)getppid();
}

static long long
clock_ns(clockid_t clock)
{
    struct timespec t;

    OK(clock_gettime(clock, &t));
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void
check_cpu_clock(clockid_t clock, int value_wanted)
{
    timer_t t = create(clock, value_wanted);
    struct itimerspec left;
    long long before = clock_ns(clock);

    fired = 0;
    set(t, 0, 5000000, 0);
    OK(timer_gettime(t, &left));
    CHECK(left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 5000000);
    work_until(1);
    CHECK(clock_ns(clock) - before >= 5000000);
    CHECK_EQ(code, SI_TIMER);
    CHECK_EQ(value, value_wanted);
    OK(timer_gettime(t, &left));
    CHECK_EQ(left.it_value.tv_nsec, 0);

    set(t, 0, 2000000, 2000000);
    work_until(4);
    CHECK(timer_getoverrun(t) >= 0);
    OK(timer_delete(t));
    CHECK_ERR(timer_gettime(t, &left), EINVAL);

    t = create(clock, 7); /* a time that has passed */
    fired = 0;
    set(t, TIMER_ABSTIME, 1, 0);
    work_until(1);
    OK(timer_delete(t));
}

static void *
worker(void *arg)
{
    clockid_t clock;

    check_cpu_clock(CLOCK_THREAD_CPUTIME_ID, 3);
    CHECK_EQ(pthread_getcpuclockid(pthread_self(), &clock), 0);
    check_cpu_clock(clock, 4);
    return NULL;
}

/* A process that sleeps uses no CPU time. */
static void
sleeping_does_not_count(void)
{
    timer_t t = create(CLOCK_PROCESS_CPUTIME_ID, 1);
    struct timespec while_ns = {.tv_nsec = 30000000};

    fired = 0;
    set(t, 0, 25000000, 0);
    OK(nanosleep(&while_ns, NULL));
    CHECK_EQ(fired, 0);
    OK(timer_delete(t));
}

static volatile pid_t target;
static sem_t may_end;

static void *
is_signalled(void *arg)
{
    target = thread_id();
    while (sem_wait(&may_end) < 0)
        CHECK_EQ(errno, EINTR);
    return NULL;
}

static void
one_thread(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = SIGUSR1};
    timer_t t;

    OK(sem_init(&may_end, 0, 0));
    pthread_t thread = thread_start(is_signalled, NULL);
    thread_await((volatile int *)&target);
    event.sigev_notify_thread_id = 1 << 22;
    CHECK_ERR(timer_create(CLOCK_MONOTONIC, &event, &t), EINVAL);
    event.sigev_notify_thread_id = target;
    OK(timer_create(CLOCK_MONOTONIC, &event, &t));
    fired = 0;
    set(t, 0, 1000000, 1000000);
    while (fired < 3)
        sched_yield();
    CHECK_EQ(on_tid, target);
    OK(timer_delete(t));
    OK(sem_post(&may_end));
    thread_join(thread);
}

static void
on_thread(union sigval v)
{
    CHECK_EQ(v.sival_int, 55);
    CHECK(thread_id() != getpid());
    OK(sem_post(&done));
}

static void
functions(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD,
                             .sigev_notify_function = on_thread,
                             .sigev_value.sival_int = 55};
    timer_t t;

    OK(sem_init(&done, 0, 0));
    OK(timer_create(CLOCK_MONOTONIC, &event, &t));
    set(t, 0, 1000000, 2000000);
    for (int i = 0; i < 3; i++)
        OK(sem_wait(&done));
    OK(timer_delete(t));
}

static void
errors(void)
{
    struct sigevent event = {.sigev_notify = 99, .sigev_signo = SIGUSR1};
    struct itimerspec bad = {.it_value.tv_nsec = 1000000000};
    timer_t t;

    CHECK_ERR(timer_create(CLOCK_MONOTONIC, &event, &t), EINVAL);
    CHECK_ERR(timer_create(12345, NULL, &t), EINVAL);
    OK(timer_create(CLOCK_REALTIME, NULL, &t));
    CHECK_ERR(timer_settime(t, 0, &bad, NULL), EINVAL);
    bad.it_value.tv_nsec = -1;
    CHECK_ERR(timer_settime(t, 0, &bad, NULL), EINVAL);
    OK(timer_delete(t));
}

int
main(void)
{
    struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

    OK(sigaction(SIGUSR1, &sa, NULL));
    check_cpu_clock(CLOCK_PROCESS_CPUTIME_ID, 1);
    check_cpu_clock(CLOCK_THREAD_CPUTIME_ID, 2);
    sleeping_does_not_count();
    thread_join(thread_start(worker, NULL));
    one_thread();
    functions();
    errors();
    return 0;
}

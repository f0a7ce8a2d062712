/* An ordinary user may choose among the policies that share time, and reads
 * those of all processes and threads; real-time ones need rights. */
#include "thread.h"

#include <limits.h>
#include <sys/resource.h>

static void
policies_of_the_caller(void)
{
    struct sched_param param = {.sched_priority = 77};

    CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
    CHECK_EQ(sched_getscheduler(getpid()), SCHED_OTHER);
    OK(sched_getparam(0, &param));
    CHECK_EQ(param.sched_priority, 0);
    OK(sched_setscheduler(0, SCHED_BATCH, &param));
    CHECK_EQ(sched_getscheduler(0), SCHED_BATCH);
    OK(sched_setparam(0, &param));
    CHECK_EQ(sched_getscheduler(0), SCHED_BATCH);
    OK(sched_setscheduler(0, SCHED_OTHER, &param));
    CHECK_EQ(sched_getscheduler(getpid()), SCHED_OTHER);
}

static void
refused_policies(void)
{
    struct sched_param none = {0}, low = {.sched_priority = 1};

    CHECK_ERR(sched_setscheduler(0, SCHED_FIFO, &low), EPERM);
    CHECK_ERR(sched_setscheduler(0, SCHED_RR, &low), EPERM);
    CHECK_ERR(sched_setscheduler(0, SCHED_FIFO, &none), EINVAL);
    CHECK_ERR(sched_setscheduler(0, SCHED_OTHER, &low), EINVAL);
    CHECK_ERR(sched_setscheduler(0, 1234, &none), EINVAL);
    CHECK_ERR(sched_setscheduler(0, -1, &none), EINVAL);
    CHECK_ERR(sched_setscheduler(0, SCHED_OTHER, NULL), EINVAL);
    CHECK_ERR(sched_setparam(0, &low), EINVAL);
    CHECK_ERR(sched_setparam(0, NULL), EINVAL);
    CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
}

static void
others(void)
{
    struct sched_param param;
    struct timespec interval;

    CHECK_ERR(sched_getscheduler(-1), EINVAL);
    CHECK_ERR(sched_getscheduler(INT_MAX), ESRCH);
    CHECK_ERR(sched_getparam(-1, &param), EINVAL);
    CHECK_ERR(sched_getparam(INT_MAX, &param), ESRCH);
    CHECK_ERR(sched_getparam(0, NULL), EINVAL);
    CHECK_ERR(sched_setparam(INT_MAX, &(struct sched_param){0}), ESRCH);
    CHECK_ERR(sched_rr_get_interval(-1, &interval), EINVAL);
    CHECK_ERR(sched_rr_get_interval(INT_MAX, &interval), ESRCH);
    interval.tv_nsec = -1;
    OK(sched_rr_get_interval(0, &interval));
    CHECK(interval.tv_sec == 0 && interval.tv_nsec >= 0);
}

static sem_t set, checked;
static volatile pid_t tid;

static void *
worker(void *arg)
{
    struct sched_param param = {0};

    OK(sched_setscheduler(0, SCHED_BATCH, &param));
    tid = thread_id();
    OK(sem_post(&set));
    OK(sem_wait(&checked));
    return (void *)(long)sched_getscheduler(0);
}

/* Each thread has its own, which others name by its number. */
static void
threads(void)
{
    struct sched_param param = {0};
    cpu_set_t cpus;
    int policy;

    OK(sem_init(&set, 0, 0));
    OK(sem_init(&checked, 0, 0));
    pthread_t thread = thread_start(worker, NULL);
    OK(sem_wait(&set));
    CHECK_EQ(sched_getscheduler(tid), SCHED_BATCH);
    CHECK_EQ(sched_getscheduler(getpid()), SCHED_OTHER);
    CHECK_EQ(pthread_getschedparam(thread, &policy, &param), 0);
    CHECK_EQ(policy, SCHED_BATCH);
    CHECK_EQ(param.sched_priority, 0);
    param.sched_priority = 1;
    CHECK_EQ(pthread_setschedparam(thread, SCHED_FIFO, &param), EPERM);
    CHECK_EQ(pthread_setschedparam(thread, SCHED_OTHER, &param), EINVAL);
    CHECK_EQ(pthread_setschedprio(thread, 0), 0);
    param.sched_priority = 0;
    CHECK_EQ(pthread_setschedparam(thread, SCHED_OTHER, &param), 0);
    OK(sched_getaffinity(tid, sizeof cpus, &cpus));
    OK(sched_setaffinity(tid, sizeof cpus, &cpus));
    CHECK_EQ(getpriority(PRIO_PROCESS, (id_t)tid),
             getpriority(PRIO_PROCESS, 0));
    OK(sem_post(&checked));
    CHECK_EQ((long)thread_join(thread), SCHED_OTHER);
}

/* A child process has the policy of its parent. */
static void
children(const char *self)
{
    struct sched_param param = {0};

    OK(sched_setscheduler(0, SCHED_BATCH, &param));
    CHECK_EQ(wait_exit(spawn_self("policy")), SCHED_BATCH);
    OK(sched_setscheduler(0, SCHED_BATCH | SCHED_RESET_ON_FORK, &param));
    CHECK_EQ(wait_exit(spawn_self("policy")), SCHED_BATCH);
    CHECK_EQ(sched_getscheduler(0), SCHED_BATCH | SCHED_RESET_ON_FORK);
}

int
main(int argc, char **argv)
{
    if (argc > 1)
        return sched_getscheduler(0);
    as_user();
    policies_of_the_caller();
    refused_policies();
    others();
    threads();
    children(argv[0]);
    return 0;
}

/* CPU time can be asked for by process: its own, a child's, nobody's. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t
ns_of(clockid_t id)
{
    struct timespec ts;

    return clock_gettime(id, &ts) == 0
               ? ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec
               : -errno;
}

static int
grows(clockid_t id)
{
    int64_t start = ns_of(id), now = start;

    while (now == start)
        now = ns_of(id);
    return start >= 0 && now > start;
}

int
main(int argc, char **argv)
{
    char *child_argv[] = {argv[0], "child", NULL}, *env[] = {NULL};
    clockid_t id;
    pid_t pid;

    if (argc > 1)
        for (;;)
            ;
    if (clock_getcpuclockid(0, &id) || !grows(id))
        return 1;
    if (clock_getcpuclockid(getpid(), &id) || !grows(id))
        return 2;
    int64_t a = ns_of(CLOCK_PROCESS_CPUTIME_ID), b = ns_of(id);
    if (b < a)
        return 3;
    if (pthread_getcpuclockid(pthread_self(), &id) || !grows(id))
        return 4;
    if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, child_argv, env))
        return 5;
    if (clock_getcpuclockid(pid, &id))
        return 6;
    while (ns_of(id) < 1000000)
        ;
    if (kill(pid, SIGKILL) || waitpid(pid, NULL, 0) != pid)
        return 7;
    if (ns_of(id) != -EINVAL)
        return 8;
    return 0;
}

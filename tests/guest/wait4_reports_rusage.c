/* wait4 gives the CPU time of the child, which RUSAGE_CHILDREN then has. */
#include "proc.h"

static double
cpu_s(const struct rusage *ru)
{
    return (double)ru->ru_utime.tv_sec + (double)ru->ru_utime.tv_usec / 1e6 +
           (double)ru->ru_stime.tv_sec + (double)ru->ru_stime.tv_usec / 1e6;
}

int
main(int argc, char **argv)
{
    struct rusage ru, all;
    struct timespec ts;
    pid_t pid;
    int st;

    (void)argv;
    if (argc > 1) {
        do
            OK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts));
        while (ts.tv_sec == 0 && ts.tv_nsec < 100000000);
        return 0;
    }
    OK(getrusage(RUSAGE_CHILDREN, &all));
    CHECK(cpu_s(&all) < 0.05);
    pid = SPAWN("x");
    CHECK_EQ(OK(wait4(pid, &st, 0, &ru)), pid);
    CHECK_EQ(st, 0);
    CHECK(cpu_s(&ru) > 0.09 && cpu_s(&ru) < 5);
    OK(getrusage(RUSAGE_CHILDREN, &all));
    CHECK(cpu_s(&all) >= cpu_s(&ru));
    return 0;
}

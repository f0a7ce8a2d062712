/* times(): own ticks grow; a child's are added when it is waited for. */
#include "proc.h"

#include <sys/times.h>

static void
burn(void)
{
    struct tms t, start;

    CHECK(times(&start) != (clock_t)-1);
    do
        CHECK(times(&t) != (clock_t)-1);
    while (t.tms_utime + t.tms_stime < start.tms_utime + start.tms_stime + 10);
}

int
main(int argc, char **argv)
{
    struct tms t;
    siginfo_t si;
    pid_t pid;
    clock_t a, b;

    (void)argv;
    CHECK_EQ(sysconf(_SC_CLK_TCK), 100);
    a = times(&t);
    burn();
    if (argc > 1)
        return 0;
    b = times(&t);
    CHECK(b - a >= 9); /* elapsed ticks, at least the 100 ms of work */
    pid = SPAWN("x");
    OK(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT));
    times(&t);
    CHECK_EQ(t.tms_cutime + t.tms_cstime, 0);
    CHECK_EQ(wait_exit(pid), 0);
    times(&t);
    CHECK(t.tms_cutime + t.tms_cstime >= 9);
    return 0;
}

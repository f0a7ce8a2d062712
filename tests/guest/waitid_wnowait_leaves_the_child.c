/* WNOWAIT only looks: the child can be waited for again. */
#include "proc.h"

int
main(int argc, char **argv)
{
    siginfo_t si;
    pid_t pid;
    int i;

    (void)argv;
    if (argc > 1)
        return 12;
    pid = SPAWN("x");
    for (i = 0; i < 3; i++) {
        memset(&si, 0, sizeof si);
        OK(waitid(P_ALL, 0, &si, WEXITED | WNOWAIT));
        CHECK_EQ(si.si_pid, pid);
        CHECK_EQ(si.si_status, 12);
    }
    OK(kill(pid, 0));
    CHECK_EQ(wait_exit(pid), 12);
    CHECK_ERR(kill(pid, 0), ESRCH);
    CHECK_ERR(waitid(P_ALL, 0, &si, WEXITED | WNOWAIT), ECHILD);
    return 0;
}

/* A dead child keeps its pid, accepts signals, and shows as Z until waited. */
#include "proc.h"

int
main(int argc, char **argv)
{
    siginfo_t si;
    pid_t pid;

    (void)argv;
    if (argc > 1)
        return 1;
    pid = SPAWN("x");
    OK(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT));
    CHECK_EQ(state_of(pid), 'Z');
    OK(kill(pid, 0));
    OK(kill(pid, SIGKILL)); /* no effect */
    CHECK_EQ(getpgid(pid), getpgrp());
    CHECK_EQ(wait_exit(pid), 1);
    CHECK_EQ(state_of(pid), 0);
    CHECK_ERR(kill(pid, 0), ESRCH);
    CHECK_ERR(getpgid(pid), ESRCH);
    return 0;
}

/* P_PID, P_PGID and P_ALL choose among children; WEXITED alone skips stops. */
#include "proc.h"

int
main(int argc, char **argv)
{
    siginfo_t si;
    int p[2];
    pid_t a, b;

    if (argc > 1 && strcmp(argv[1], "exit") == 0)
        return 3;
    if (argc > 1) {
        OK(setpgid(0, 0));
        say(atoi(argv[2]), 'r');
        for (;;)
            pause();
    }
    report_pipe(p);
    a = SPAWN("group", num(p[1]));
    CHECK_EQ(hear(p[0]), 'r');
    b = SPAWN("exit");
    OK(waitid(P_PGID, (id_t)getpgrp(), &si, WEXITED));
    CHECK_EQ(si.si_pid, b);
    OK(kill(a, SIGSTOP));
    OK(waitid(P_PGID, (id_t)a, &si, WSTOPPED | WNOWAIT));
    CHECK_EQ(si.si_pid, a);
    OK(waitid(P_ALL, 0, &si, WEXITED | WNOHANG));
    CHECK_EQ(si.si_pid, 0);
    OK(kill(a, SIGKILL));
    OK(waitid(P_PID, (id_t)a, &si, WEXITED));
    CHECK_EQ(si.si_code, CLD_KILLED);
    CHECK_ERR(waitid(P_PGID, (id_t)a, &si, WEXITED), ECHILD);
    return 0;
}

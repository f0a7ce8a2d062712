/* siginfo of waitid: code, status, pid, uid, for each kind of change. */
#include "proc.h"

static void
expect(pid_t pid, int options, int code, int status)
{
    siginfo_t si;

    memset(&si, 0x55, sizeof si);
    OK(waitid(P_PID, (id_t)pid, &si, options));
    CHECK_EQ(si.si_signo, SIGCHLD);
    CHECK_EQ(si.si_code, code);
    CHECK_EQ(si.si_status, status);
    CHECK_EQ(si.si_pid, pid);
    CHECK_EQ(si.si_uid, getuid());
    CHECK_EQ(si.si_errno, 0);
}

int
main(int argc, char **argv)
{
    siginfo_t si;
    pid_t pid;

    if (argc > 1 && strcmp(argv[1], "exit") == 0)
        return 0x1c3 & 255;
    if (argc > 1)
        for (;;)
            pause();
    expect(SPAWN("exit"), WEXITED, CLD_EXITED, 0xc3);
    pid = SPAWN("pause");
    memset(&si, 0x55, sizeof si);
    OK(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOHANG));
    CHECK_EQ(si.si_pid, 0); /* nothing yet */
    CHECK_EQ(si.si_signo, 0);
    OK(kill(pid, SIGSTOP));
    expect(pid, WSTOPPED, CLD_STOPPED, SIGSTOP);
    OK(kill(pid, SIGCONT));
    expect(pid, WCONTINUED, CLD_CONTINUED, SIGCONT);
    OK(kill(pid, SIGKILL));
    expect(pid, WEXITED, CLD_KILLED, SIGKILL);
    return 0;
}

/* SIGCHLD arrives for exit, stop and continue, with the facts in siginfo. */
#include "proc.h"

static siginfo_t
next(void)
{
    sigset_t set = set_of(SIGCHLD);
    siginfo_t si;

    CHECK_EQ(OK(sigwaitinfo(&set, &si)), SIGCHLD);
    return si;
}

static void
expect(pid_t pid, int code, int status)
{
    siginfo_t si = next();

    CHECK_EQ(si.si_code, code);
    CHECK_EQ(si.si_status, status);
    CHECK_EQ(si.si_pid, pid);
    CHECK_EQ(si.si_uid, getuid());
}

int
main(int argc, char **argv)
{
    pid_t pid;

    if (argc > 1 && strcmp(argv[1], "exit") == 0)
        return 17;
    if (argc > 1)
        for (;;)
            pause();
    mask(SIG_BLOCK, SIGCHLD);
    handle(SIGCHLD, note, 0);
    pid = SPAWN("exit");
    expect(pid, CLD_EXITED, 17);
    CHECK_EQ(wait_exit(pid), 17);
    pid = SPAWN("pause");
    OK(kill(pid, SIGSTOP));
    expect(pid, CLD_STOPPED, SIGSTOP);
    OK(kill(pid, SIGCONT));
    expect(pid, CLD_CONTINUED, SIGCONT);
    OK(kill(pid, SIGTERM));
    expect(pid, CLD_KILLED, SIGTERM);
    CHECK_EQ(wait_killed(pid), SIGTERM);
    CHECK_EQ(caught[SIGCHLD], 0);
    return 0;
}

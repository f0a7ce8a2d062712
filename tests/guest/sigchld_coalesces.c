/* Many children may end for one SIGCHLD: a handler must wait in a loop. */
#include "proc.h"

#define COUNT 5

static volatile sig_atomic_t reaped;

static void
reap(int sig)
{
    int saved = errno;

    caught[sig]++;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        reaped++;
    errno = saved;
}

int
main(int argc, char **argv)
{
    pid_t pids[COUNT];
    siginfo_t si;
    int i;

    (void)argv;
    if (argc > 1)
        return 0;
    handle(SIGCHLD, reap, 0);
    mask(SIG_BLOCK, SIGCHLD);
    for (i = 0; i < COUNT; i++)
        pids[i] = SPAWN("x");
    for (i = 0; i < COUNT; i++)
        OK(waitid(P_PID, (id_t)pids[i], &si, WEXITED | WNOWAIT));
    CHECK_EQ(caught[SIGCHLD], 0);
    mask(SIG_UNBLOCK, SIGCHLD);
    CHECK_EQ(caught[SIGCHLD], 1);
    CHECK_EQ(reaped, COUNT);
    return 0;
}

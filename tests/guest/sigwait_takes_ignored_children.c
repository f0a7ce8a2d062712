/* sigwait returns signals, also ones whose default action is nothing. */
#include "proc.h"

int
main(int argc, char **argv)
{
    sigset_t set;
    int sig = 0;
    pid_t pid;

    (void)argv;
    if (argc > 1)
        return 0;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGALRM);
    OK(sigprocmask(SIG_BLOCK, &set, NULL));
    pid = SPAWN("x");
    CHECK_EQ(sigwait(&set, &sig), 0);
    CHECK_EQ(sig, SIGCHLD);
    CHECK_EQ(wait_exit(pid), 0);
    tick(10);
    CHECK_EQ(sigwait(&set, &sig), 0);
    CHECK_EQ(sig, SIGALRM);
    tick(0);
    OK(kill(getpid(), SIGUSR1));
    sigdelset(&set, SIGALRM);
    CHECK_EQ(sigwait(&set, &sig), 0);
    CHECK_EQ(sig, SIGUSR1);
    return 0;
}

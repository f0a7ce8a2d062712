/* SA_RESETHAND: the action is the default again when the handler starts. */
#include "proc.h"

static void
look(int sig)
{
    struct sigaction sa;

    OK(sigaction(sig, NULL, &sa));
    CHECK(sa.sa_handler == SIG_DFL);
    caught[sig]++;
}

int
main(int argc, char **argv)
{
    (void)argv;
    handle(SIGUSR1, look, SA_RESETHAND);
    if (argc > 1) {
        OK(raise(SIGUSR1));
        CHECK_EQ(caught[SIGUSR1], 1);
        OK(raise(SIGUSR1));
        return 0; /* not reached */
    }
    CHECK_EQ(wait_killed(SPAWN("x")), SIGUSR1);
    handle(SIGCHLD, look, SA_RESETHAND);
    OK(raise(SIGCHLD));
    OK(raise(SIGCHLD));
    CHECK_EQ(caught[SIGCHLD], 1);
    return 0;
}

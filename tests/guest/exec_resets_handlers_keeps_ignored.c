/* Across exec, handled signals become default, ignored ones stay ignored. */
#include "proc.h"

static void
check(int sig, void (*want)(int))
{
    struct sigaction sa;

    OK(sigaction(sig, NULL, &sa));
    CHECK(sa.sa_handler == want);
}

int
main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        check(SIGUSR1, SIG_DFL);
        check(SIGUSR2, SIG_IGN);
        check(SIGCHLD, SIG_DFL);
        check(SIGRTMIN, SIG_IGN);
        check(SIGTERM, SIG_DFL);
        return 0;
    }
    handle(SIGUSR1, note, SA_RESTART);
    handle(SIGUSR2, SIG_IGN, 0);
    handle(SIGCHLD, note, 0);
    handle(SIGRTMIN, SIG_IGN, 0);
    OK(execl("/proc/self/exe", "child", "x", NULL));
    return 1;
}

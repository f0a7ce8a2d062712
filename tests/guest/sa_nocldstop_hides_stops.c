/* SA_NOCLDSTOP: no SIGCHLD for stop and continue, but still for the end. */
#include "proc.h"

int
main(int argc, char **argv)
{
    int st;
    pid_t pid;

    (void)argv;
    if (argc > 1)
        for (;;)
            pause();
    handle(SIGCHLD, note, SA_NOCLDSTOP | SA_RESTART);
    pid = SPAWN("x");
    OK(kill(pid, SIGSTOP));
    CHECK_EQ(wait_stopped(pid), SIGSTOP); /* waiting still works */
    OK(kill(pid, SIGCONT));
    CHECK_EQ(OK(waitpid(pid, &st, WCONTINUED)), pid);
    CHECK_EQ(caught[SIGCHLD], 0);
    OK(kill(pid, SIGKILL));
    CHECK_EQ(wait_killed(pid), SIGKILL);
    CHECK_EQ(caught[SIGCHLD], 1);
    return 0;
}

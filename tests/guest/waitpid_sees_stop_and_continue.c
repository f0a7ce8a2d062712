/* WUNTRACED and WCONTINUED report each change once; plain waits ignore them. */
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
    pid = SPAWN("x");
    OK(kill(pid, SIGSTOP));
    CHECK_EQ(OK(waitpid(pid, &st, WUNTRACED)), pid);
    CHECK(WIFSTOPPED(st) && WSTOPSIG(st) == SIGSTOP);
    CHECK(!WIFEXITED(st) && !WIFSIGNALED(st) && !WIFCONTINUED(st));
    CHECK_EQ(waitpid(pid, &st, WUNTRACED | WNOHANG), 0);
    CHECK_EQ(state_of(pid), 'T');

    OK(kill(pid, SIGCONT));
    CHECK_EQ(OK(waitpid(pid, &st, WCONTINUED)), pid);
    CHECK(WIFCONTINUED(st) && !WIFSTOPPED(st) && !WIFEXITED(st));
    CHECK_EQ(waitpid(pid, &st, WCONTINUED | WUNTRACED | WNOHANG), 0);

    OK(kill(pid, SIGTSTP));
    CHECK_EQ(wait_stopped(pid), SIGTSTP);
    OK(kill(pid, SIGTERM)); /* waits for the continuation */
    CHECK_EQ(waitpid(pid, &st, WNOHANG), 0);
    OK(kill(pid, SIGCONT));
    CHECK_EQ(wait_killed(pid), SIGTERM);

    pid = SPAWN("x");
    OK(kill(pid, SIGSTOP));
    CHECK_EQ(wait_stopped(pid), SIGSTOP);
    OK(kill(pid, SIGKILL)); /* this one does not wait */
    CHECK_EQ(wait_killed(pid), SIGKILL);
    return 0;
}

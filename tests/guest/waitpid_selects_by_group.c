/* waitpid(-pgid) and waitpid(0) look only at children of that group. */
#include "proc.h"

int
main(int argc, char **argv)
{
    int p[2], st;
    pid_t own, other;

    if (argc > 1 && strcmp(argv[1], "other") == 0) {
        OK(setpgid(0, 0));
        say(atoi(argv[2]), 'r');
        for (;;)
            pause();
    }
    if (argc > 1)
        return 3;
    report_pipe(p);
    other = SPAWN("other", num(p[1]));
    CHECK_EQ(hear(p[0]), 'r');
    CHECK_ERR(waitpid(0, &st, WNOHANG), ECHILD);
    CHECK_EQ(waitpid(-other, &st, WNOHANG), 0);
    own = SPAWN("own");
    CHECK_EQ(OK(waitpid(0, &st, 0)), own);
    CHECK_EQ(WEXITSTATUS(st), 3);
    OK(kill(-other, SIGTERM));
    CHECK_EQ(OK(waitpid(-other, &st, 0)), other);
    CHECK(WIFSIGNALED(st) && WTERMSIG(st) == SIGTERM);
    CHECK_ERR(waitpid(-other, &st, 0), ECHILD);
    return 0;
}

/* needs: /bin/sh */
/* system() runs a command, returns its wait status, and restores signals. */
#include "proc.h"

int
main(void)
{
    struct sigaction sa;
    int r;

    CHECK(system(NULL) != 0);
    r = OK(system("exit 3"));
    CHECK(WIFEXITED(r) && WEXITSTATUS(r) == 3);
    CHECK_EQ(system("true"), 0);
    r = OK(system("kill -TERM $$"));
    CHECK(WIFSIGNALED(r) && WTERMSIG(r) == SIGTERM);
    r = OK(system("/no/such/command 2>/dev/null"));
    CHECK(WIFEXITED(r) && WEXITSTATUS(r) == 127);
    OK(sigaction(SIGINT, NULL, &sa));
    CHECK(sa.sa_handler == SIG_DFL);
    CHECK(!is_blocked(SIGCHLD) && !is_pending(SIGCHLD));
    CHECK_ERR(wait(NULL), ECHILD);
    return 0;
}

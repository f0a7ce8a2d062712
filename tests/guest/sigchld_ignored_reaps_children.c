/* With SIGCHLD ignored children leave no zombies; wait blocks, then ECHILD. */
#include "proc.h"

int
main(int argc, char **argv)
{
    int p[2];

    if (argc > 1) {
        say(atoi(argv[1]), 'x');
        return 0;
    }
    report_pipe(p);
    handle(SIGCHLD, SIG_IGN, 0);
    SPAWN(num(p[1]));
    SPAWN(num(p[1]));
    OK(close(p[1]));
    CHECK_ERR(waitpid(-1, NULL, 0), ECHILD);
    CHECK_EQ(hear(p[0]), 'x'); /* both had ended: nothing else is written */
    CHECK_EQ(hear(p[0]), 'x');
    CHECK_EQ(hear(p[0]), -1);
    handle(SIGCHLD, SIG_DFL, 0); /* the default also does nothing, but waits */
    OK(pipe(p));
    CHECK_EQ(wait_exit(SPAWN(num(p[1]))), 0);
    return 0;
}

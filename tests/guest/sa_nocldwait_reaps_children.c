/* SA_NOCLDWAIT: the handler runs, but there is no zombie to wait for. */
#include "proc.h"

int
main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return 0;
    handle(SIGCHLD, note, SA_NOCLDWAIT | SA_RESTART);
    SPAWN("x");
    CHECK_ERR(wait(NULL), ECHILD);
    CHECK_EQ(caught[SIGCHLD], 1);
    return 0;
}

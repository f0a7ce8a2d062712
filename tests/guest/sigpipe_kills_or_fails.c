/* Writing to a pipe without readers: SIGPIPE, or EPIPE when it is ignored. */
#include "proc.h"

int
main(int argc, char **argv)
{
    int p[2];

    (void)argv;
    OK(pipe(p));
    OK(close(p[0]));
    if (argc > 1) {
        OK(write(p[1], "x", 1));
        return 0;
    }
    CHECK_EQ(wait_killed(SPAWN("x")), SIGPIPE);
    handle(SIGPIPE, note, 0);
    CHECK_ERR(write(p[1], "x", 1), EPIPE);
    CHECK_EQ(caught[SIGPIPE], 1);
    handle(SIGPIPE, SIG_IGN, 0);
    CHECK_ERR(write(p[1], "x", 1), EPIPE);
    CHECK_EQ(write(p[1], "", 0), 0);
    CHECK_EQ(caught[SIGPIPE], 1);
    return 0;
}

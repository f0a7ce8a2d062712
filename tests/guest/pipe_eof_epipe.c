/* A pipe without writers ends; one without readers gives SIGPIPE and EPIPE. */
#include "guest.h"

#include <signal.h>

static volatile sig_atomic_t signals;

static void
handler(int sig)
{
    signals += sig == SIGPIPE;
}

int
main(void)
{
    char buf[16];
    int fds[2];

    OK(pipe(fds));
    CHECK_EQ(write(fds[1], "left over", 9), 9);
    int copy = OK(dup(fds[1]));
    OK(close(fds[1]));
    CHECK_EQ(write(copy, "!", 1), 1);
    OK(close(copy));
    CHECK_EQ(read(fds[0], buf, 4), 4);
    CHECK_EQ(read(fds[0], buf, sizeof buf), 6);
    CHECK_EQ(read(fds[0], buf, sizeof buf), 0);
    CHECK_EQ(read(fds[0], buf, sizeof buf), 0);

    OK(pipe(fds));
    OK(close(fds[0]));
    signal(SIGPIPE, handler);
    CHECK_ERR(write(fds[1], "x", 1), EPIPE);
    CHECK_EQ(signals, 1);
    CHECK_EQ(write(fds[1], "", 0), 0);
    signal(SIGPIPE, SIG_IGN);
    CHECK_ERR(write(fds[1], "x", 1), EPIPE);
    CHECK_EQ(signals, 1);

    OK(pipe(fds));
    CHECK_ERR(write(fds[0], "x", 1), EBADF);
    CHECK_ERR(read(fds[1], buf, 1), EBADF);
    return 0;
}

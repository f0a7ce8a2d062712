/* POLLIN, POLLOUT, POLLHUP and POLLERR of the two ends of a pipe. */
#include "proc.h"

static int
look(int fd, short events)
{
    struct pollfd pf = {.fd = fd, .events = events, .revents = 0x55};

    OK(poll(&pf, 1, 0));
    return pf.revents;
}

int
main(void)
{
    char buf[4096] = "";
    int p[2];

    OK(pipe2(p, O_NONBLOCK));
    CHECK_EQ(look(p[0], POLLIN | POLLOUT), 0);
    CHECK_EQ(look(p[1], POLLIN | POLLOUT), POLLOUT);
    say(p[1], 'x');
    CHECK_EQ(look(p[0], POLLIN | POLLPRI), POLLIN);
    CHECK_EQ(look(p[0], 0), 0);
    while (write(p[1], buf, sizeof buf) > 0)
        ;
    CHECK_EQ(errno, EAGAIN);
    CHECK_EQ(look(p[1], POLLOUT), 0); /* full */
    OK(close(p[1]));
    CHECK_EQ(look(p[0], POLLIN), POLLIN | POLLHUP);
    while (OK(read(p[0], buf, sizeof buf)) > 0)
        ;
    CHECK_EQ(look(p[0], POLLIN), POLLHUP); /* end of file, no data */
    CHECK_EQ(look(p[0], 0), POLLHUP);
    OK(close(p[0]));
    OK(pipe(p));
    OK(close(p[0]));
    CHECK_EQ(look(p[1], POLLOUT), POLLOUT | POLLERR);
    return 0;
}

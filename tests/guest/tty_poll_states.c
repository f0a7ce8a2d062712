/* poll and select on the two ends of a terminal; O_NONBLOCK; EINTR. */
#include "tty.h"

static int
look(int fd, short events)
{
    struct pollfd pf = {.fd = fd, .events = events};

    OK(poll(&pf, 1, 0));
    return pf.revents;
}

int
main(void)
{
    struct pty t = pty_new();
    struct pollfd pf = {.fd = t.slave, .events = POLLIN};
    char c;

    set_raw(t.slave, 1, 0);
    CHECK_EQ(look(t.master, POLLIN | POLLOUT), POLLOUT);
    CHECK_EQ(look(t.slave, POLLIN | POLLOUT), POLLOUT);
    type(t.master, "x");
    CHECK_EQ(poll(&pf, 1, 60000), 1);
    CHECK_EQ(pf.revents, POLLIN);
    CHECK_EQ(hear(t.slave), 'x');
    type(t.slave, "y");
    pf.fd = t.master;
    CHECK_EQ(poll(&pf, 1, 60000), 1);
    CHECK_EQ(hear(t.master), 'y');
    OK(fcntl(t.master, F_SETFL, O_NONBLOCK));
    CHECK_ERR(read(t.master, &c, 1), EAGAIN);
    OK(fcntl(t.slave, F_SETFL, O_NONBLOCK));
    CHECK_ERR(read(t.slave, &c, 1), EAGAIN);
    OK(fcntl(t.slave, F_SETFL, 0));
    handle(SIGALRM, note, 0);
    tick(10);
    CHECK_ERR(read(t.slave, &c, 1), EINTR);
    tick(0);
    return 0;
}

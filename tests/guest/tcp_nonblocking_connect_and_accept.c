/* Nonblocking sockets: EINPROGRESS, then POLLOUT and SO_ERROR tell. */
#include "net.h"

static int
begin(int port)
{
    union addr a;
    socklen_t len = loopback(&a, AF_INET, port);
    int fd = OK(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));

    CHECK((OK(fcntl(fd, F_GETFL)) & O_NONBLOCK) != 0);
    CHECK_ERR(connect(fd, &a.sa, len), EINPROGRESS);
    return fd;
}

int
main(void)
{
    struct pollfd pf = {.events = POLLOUT};
    int l = serve(AF_INET, SOCK_STREAM), port = port_of(l), c, s;
    char b;

    OK(fcntl(l, F_SETFL, O_NONBLOCK));
    CHECK_ERR(accept(l, NULL, NULL), EAGAIN);
    pf.fd = c = begin(port);
    CHECK_EQ(poll(&pf, 1, 60000), 1);
    CHECK_EQ(pf.revents, POLLOUT);
    CHECK_EQ(option_of(c, SOL_SOCKET, SO_ERROR), 0);
    pf = (struct pollfd){.fd = l, .events = POLLIN};
    CHECK_EQ(poll(&pf, 1, 60000), 1);
    CHECK_EQ(pf.revents, POLLIN);
    s = OK(accept(l, NULL, NULL));
    CHECK_EQ(OK(fcntl(s, F_GETFL)) & O_NONBLOCK, 0); /* not inherited */
    CHECK_ERR(recv(c, &b, 1, 0), EAGAIN);
    say(s, 'x');
    pf = (struct pollfd){.fd = c, .events = POLLIN};
    CHECK_EQ(poll(&pf, 1, 60000), 1);
    CHECK_EQ(hear(c), 'x');
    OK(close(l));
    c = begin(port); /* refused now */
    pf = (struct pollfd){.fd = c, .events = POLLOUT};
    CHECK_EQ(poll(&pf, 1, 60000), 1);
    CHECK_EQ(pf.revents, POLLOUT | POLLERR | POLLHUP);
    CHECK_EQ(option_of(c, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
    CHECK_EQ(option_of(c, SOL_SOCKET, SO_ERROR), 0); /* told once */
    return 0;
}

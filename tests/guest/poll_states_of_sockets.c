/* poll on stream sockets: writable, readable, hung up; a listener's queue. */
#include "net.h"

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
    int s[2], l, c;

    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    CHECK_EQ(look(s[0], POLLIN | POLLOUT), POLLOUT);
    say(s[1], 'x');
    CHECK_EQ(look(s[0], POLLIN | POLLOUT), POLLIN | POLLOUT);
    OK(close(s[1]));
    CHECK_EQ(look(s[0], POLLIN | POLLRDHUP), POLLIN | POLLRDHUP | POLLHUP);
    CHECK_EQ(hear(s[0]), 'x');
    CHECK_EQ(look(s[0], POLLIN), POLLIN | POLLHUP); /* unlike a pipe */
    CHECK_EQ(look(OK(socket(AF_UNIX, SOCK_STREAM, 0)), POLLIN | POLLOUT),
             POLLOUT | POLLHUP); /* never connected */
    CHECK_EQ(look(OK(socket(AF_INET, SOCK_STREAM, 0)), POLLIN | POLLOUT),
             POLLOUT | POLLHUP);
    l = serve(AF_INET, SOCK_STREAM);
    CHECK_EQ(look(l, POLLIN | POLLOUT), 0);
    c = dial(AF_INET, port_of(l));
    CHECK_EQ(poll(&(struct pollfd){l, POLLIN, 0}, 1, -1), 1);
    CHECK_EQ(look(l, POLLIN | POLLOUT), POLLIN);
    CHECK_EQ(look(c, POLLIN | POLLOUT), POLLOUT);
    return 0;
}

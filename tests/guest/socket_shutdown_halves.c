/* shutdown of one direction: end of file there, EPIPE here, other way open. */
#include "net.h"

static void
halves(int a, int b)
{
    struct pollfd pf = {.fd = b, .events = POLLIN | POLLRDHUP};

    say(a, 'x');
    OK(shutdown(a, SHUT_WR));
    CHECK_ERR(write(a, "y", 1), EPIPE);
    CHECK_EQ(hear(b), 'x'); /* what was sent still arrives */
    CHECK_EQ(hear(b), -1);
    CHECK_EQ(hear(b), -1);
    CHECK_EQ(poll(&pf, 1, -1), 1);
    CHECK_EQ(pf.revents, POLLIN | POLLRDHUP);
    say(b, 'z');
    CHECK_EQ(hear(a), 'z');
    OK(shutdown(b, SHUT_WR));
    CHECK_EQ(hear(a), -1);
    pf.events = POLLIN;
    pf.fd = a;
    CHECK_EQ(poll(&pf, 1, -1), 1);
    CHECK_EQ(pf.revents, POLLIN | POLLHUP); /* both directions are down */
}

int
main(void)
{
    int s[2];

    handle(SIGPIPE, SIG_IGN, 0);
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    halves(s[0], s[1]);
    CHECK_ERR(shutdown(s[0], 77), EINVAL);
    tcp_pair(s);
    halves(s[0], s[1]);
    CHECK_ERR(shutdown(OK(socket(AF_INET, SOCK_STREAM, 0)), SHUT_WR), ENOTCONN);
    CHECK_ERR(shutdown(0, SHUT_WR), ENOTSOCK);
    return 0;
}

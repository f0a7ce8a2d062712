/* A wildcard IPv6 socket serves IPv4 too, unless it is told not to. */
#include "net.h"

static int
wildcard(int family, int port, int v6only)
{
    union addr a;
    socklen_t len = loopback(&a, family, port);
    int fd = OK(socket(family, SOCK_STREAM, 0));

    if (family == AF_INET6) {
        a.in6.sin6_addr = in6addr_any;
        OK(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof v6only));
    } else {
        a.in.sin_addr.s_addr = htonl(INADDR_ANY);
    }
    if (bind(fd, &a.sa, len) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int
main(void)
{
    union addr a;
    socklen_t len = sizeof a;
    int both = wildcard(AF_INET6, 0, 0), c, s, v6, v4;

    OK(listen(both, 1));
    c = dial(AF_INET, port_of(both));
    s = OK(accept(both, &a.sa, &len));
    CHECK_EQ(len, sizeof a.in6);
    CHECK_EQ(a.sa.sa_family, AF_INET6);
    CHECK(IN6_IS_ADDR_V4MAPPED(&a.in6.sin6_addr));
    CHECK_EQ(ntohs(a.in6.sin6_port), port_of(c));
    say(c, 'x');
    CHECK_EQ(hear(s), 'x');
    CHECK_EQ(wildcard(AF_INET, port_of(both), 0), -1);
    CHECK_EQ(errno, EADDRINUSE);

    do { /* a port that nobody uses with the other family */
        v6 = wildcard(AF_INET6, 0, 1);
        v4 = wildcard(AF_INET, port_of(v6), 0);
    } while (v4 < 0 && errno == EADDRINUSE);
    OK(listen(v6, 1));
    len = loopback(&a, AF_INET, port_of(v6));
    c = OK(socket(AF_INET, SOCK_STREAM, 0));
    CHECK_ERR(connect(c, &a.sa, len), ECONNREFUSED);
    OK(listen(v4, 1));
    OK(close(dial(AF_INET, port_of(v6))));
    return 0;
}

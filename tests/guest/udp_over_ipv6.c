/* UDP on ::1 works as on 127.0.0.1, and a socket on :: gets datagrams of both,
 * unless it is told not to. */
#include "net.h"

static int
wildcard(int v6only)
{
    union addr a;
    socklen_t len = loopback(&a, AF_INET6, 0);
    int fd = OK(socket(AF_INET6, SOCK_DGRAM, 0));

    a.in6.sin6_addr = in6addr_any;
    OK(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof v6only));
    OK(bind(fd, &a.sa, len));
    return fd;
}

int
main(void)
{
    union addr a, from;
    socklen_t len;
    char buf[16];
    int x = serve(AF_INET6, SOCK_DGRAM), y = serve(AF_INET6, SOCK_DGRAM);
    int both, only, four;

    len = loopback(&a, AF_INET6, port_of(x));
    CHECK_EQ(sendto(y, "ping", 4, 0, &a.sa, len), 4);
    len = sizeof from;
    CHECK_EQ(recvfrom(x, buf, sizeof buf, 0, &from.sa, &len), 4);
    CHECK_EQ(len, sizeof from.in6);
    CHECK(IN6_IS_ADDR_LOOPBACK(&from.in6.sin6_addr));
    CHECK_EQ(ntohs(from.in6.sin6_port), port_of(y));
    OK(connect(x, &from.sa, len));
    len = sizeof from;
    OK(getpeername(x, &from.sa, &len));
    CHECK_EQ(ntohs(from.in6.sin6_port), port_of(y));
    len = sizeof from;
    OK(getsockname(x, &from.sa, &len));
    CHECK(IN6_IS_ADDR_LOOPBACK(&from.in6.sin6_addr));

    both = wildcard(0);
    four = serve(AF_INET, SOCK_DGRAM);
    len = loopback(&a, AF_INET, port_of(both));
    CHECK_EQ(sendto(four, "four", 4, 0, &a.sa, len), 4);
    len = sizeof from;
    CHECK_EQ(recvfrom(both, buf, sizeof buf, 0, &from.sa, &len), 4);
    CHECK(IN6_IS_ADDR_V4MAPPED(&from.in6.sin6_addr));
    CHECK_EQ(sendto(both, "back", 4, 0, &from.sa, len), 4);
    CHECK_EQ(recv(four, buf, sizeof buf, 0), 4);
    len = loopback(&a, AF_INET6, port_of(both));
    CHECK_EQ(sendto(y, "six", 3, 0, &a.sa, len), 3);
    CHECK_EQ(recv(both, buf, sizeof buf, 0), 3);

    only = wildcard(1);
    len = loopback(&a, AF_INET, port_of(only));
    OK(connect(four, &a.sa, len));
    CHECK_EQ(send(four, "x", 1, 0), 1);
    CHECK_ERR(recv(four, buf, sizeof buf, 0), ECONNREFUSED);
    return 0;
}

/* ::1 works as 127.0.0.1 does, and a v6 listener on :: takes v4 clients. */
#include "net.h"

int
main(void)
{
    union addr a;
    socklen_t len = sizeof a;
    int l = serve(AF_INET6, SOCK_STREAM), c, s;
    char text[64];

    c = dial(AF_INET6, port_of(l));
    s = OK(accept(l, &a.sa, &len));
    CHECK_EQ(len, sizeof a.in6);
    CHECK_EQ(a.in6.sin6_family, AF_INET6);
    CHECK(IN6_IS_ADDR_LOOPBACK(&a.in6.sin6_addr));
    say(c, 'x');
    CHECK_EQ(hear(s), 'x');
    OK(close(l));
    l = OK(socket(AF_INET6, SOCK_STREAM, 0));
    memset(&a, 0, sizeof a);
    a.in6.sin6_family = AF_INET6;
    OK(bind(l, &a.sa, sizeof a.in6));
    OK(listen(l, 1));
    c = dial(AF_INET, port_of(l));
    len = sizeof a;
    s = OK(accept(l, &a.sa, &len));
    CHECK(IN6_IS_ADDR_V4MAPPED(&a.in6.sin6_addr));
    CHECK(inet_ntop(AF_INET6, &a.in6.sin6_addr, text, sizeof text) != NULL);
    CHECK_STR(text, "::ffff:127.0.0.1");
    say(s, 'y');
    CHECK_EQ(hear(c), 'y');
    return 0;
}

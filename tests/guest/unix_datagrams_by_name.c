/* Bound datagram sockets: sendto, the sender's name, connect as a filter. */
#include "net.h"

int
main(void)
{
    union addr a, b, from;
    socklen_t alen = unix_name(&a, "a"), blen = unix_name(&b, "b"), len;
    char buf[16] = "";
    int x, y, z;

    tmpdir();
    x = OK(socket(AF_UNIX, SOCK_DGRAM, 0));
    y = OK(socket(AF_UNIX, SOCK_DGRAM, 0));
    z = OK(socket(AF_UNIX, SOCK_DGRAM, 0));
    OK(bind(x, &a.sa, alen));
    OK(bind(y, &b.sa, blen));
    CHECK_EQ(sendto(y, "hi", 2, 0, &a.sa, alen), 2);
    len = sizeof from;
    CHECK_EQ(recvfrom(x, buf, sizeof buf, 0, &from.sa, &len), 2);
    CHECK_STR(from.un.sun_path, "b");
    CHECK_EQ(sendto(z, "no name", 7, 0, &a.sa, alen), 7);
    len = sizeof from;
    CHECK_EQ(recvfrom(x, buf, sizeof buf, 0, &from.sa, &len), 7);
    CHECK(len == 0 || len == sizeof(sa_family_t));
    CHECK_ERR(send(z, "x", 1, 0), ENOTCONN);
    OK(connect(x, &b.sa, blen));
    CHECK_EQ(send(x, "back", 4, 0), 4);
    CHECK_EQ(recv(y, buf, sizeof buf, 0), 4);
    CHECK_ERR(sendto(z, "x", 1, 0, &a.sa, alen), EPERM); /* a talks to b only */
    OK(unlink("a"));
    CHECK_ERR(sendto(y, "x", 1, 0, &a.sa, alen), ENOENT);
    return 0;
}

/* UDP: sendto, the sender's address, connect as filter, a refused port. */
#include "net.h"

int
main(void)
{
    union addr a, from;
    socklen_t len;
    char buf[16];
    int x = serve(AF_INET, SOCK_DGRAM), y = serve(AF_INET, SOCK_DGRAM), z;

    len = loopback(&a, AF_INET, port_of(x));
    CHECK_EQ(sendto(y, "ping", 4, 0, &a.sa, len), 4);
    CHECK_EQ(sendto(y, "", 0, 0, &a.sa, len), 0);
    len = sizeof from;
    CHECK_EQ(recvfrom(x, buf, sizeof buf, 0, &from.sa, &len), 4);
    CHECK_EQ(ntohs(from.in.sin_port), port_of(y));
    CHECK_EQ(sendto(x, "pong", 4, 0, &from.sa, len), 4);
    CHECK_EQ(recv(y, buf, 2, MSG_TRUNC), 4);
    CHECK_EQ(recv(x, buf, sizeof buf, 0), 0);
    z = OK(socket(AF_INET, SOCK_DGRAM, 0));
    CHECK_EQ(port_of(z), 0);
    CHECK_ERR(send(z, "x", 1, 0), EDESTADDRREQ);
    len = loopback(&a, AF_INET, port_of(x));
    OK(connect(z, &a.sa, len));
    CHECK(port_of(z) != 0);
    loopback(&a, AF_INET, port_of(z));
    CHECK_EQ(sendto(y, "no", 2, 0, &a.sa, len), 2); /* not z's peer: dropped */
    CHECK_EQ(sendto(x, "yes", 3, 0, &a.sa, len), 3);
    CHECK_EQ(recv(z, buf, sizeof buf, 0), 3);
    CHECK_ERR(recv(z, buf, sizeof buf, MSG_DONTWAIT), EAGAIN);
    OK(close(x)); /* nobody there: the error arrives with the next call */
    CHECK_EQ(send(z, "x", 1, 0), 1);
    CHECK_ERR(recv(z, buf, sizeof buf, 0), ECONNREFUSED);
    CHECK_ERR(listen(z, 1), EOPNOTSUPP);
    return 0;
}

/* ECONNREFUSED, EADDRINUSE, EISCONN, ENOTCONN, EINVAL, EAFNOSUPPORT. */
#include "net.h"

int
main(void)
{
    union addr a;
    socklen_t len;
    int l = serve(AF_INET, SOCK_STREAM), c, port = port_of(l);
    char b;

    len = loopback(&a, AF_INET, port);
    c = OK(socket(AF_INET, SOCK_STREAM, 0));
    CHECK_ERR(bind(c, &a.sa, len), EADDRINUSE);
    CHECK_ERR(recv(c, &b, 1, 0), ENOTCONN);
    CHECK_ERR(send(c, &b, 1, MSG_NOSIGNAL), EPIPE); /* on TCP not ENOTCONN */
    CHECK_ERR(getpeername(c, &a.sa, &len), ENOTCONN);
    CHECK_ERR(accept(c, NULL, NULL), EINVAL); /* not listening */
    len = loopback(&a, AF_INET, port);
    OK(connect(c, &a.sa, len));
    CHECK_ERR(connect(c, &a.sa, len), EISCONN);
    CHECK_ERR(listen(c, 1), EINVAL);
    OK(close(c));
    CHECK_ERR(bind(l, &a.sa, len), EINVAL); /* has an address */
    OK(close(l));
    c = OK(socket(AF_INET, SOCK_STREAM, 0));
    CHECK_ERR(connect(c, &a.sa, len), ECONNREFUSED);
    a.in.sin_addr.s_addr = htonl(0x08080808); /* not an address of ours */
    CHECK_ERR(bind(c, &a.sa, len), EADDRNOTAVAIL);
    CHECK_ERR(bind(c, &a.sa, 4), EINVAL);
    CHECK_ERR(socket(AF_INET, 77, 0), EINVAL);
    CHECK_ERR(socket(999, SOCK_STREAM, 0), EAFNOSUPPORT);
    CHECK_ERR(connect(0, &a.sa, len), ENOTSOCK);
    CHECK_ERR(connect(99, &a.sa, len), EBADF);
    return 0;
}

/* The SO_ options that programs ask for and set. */
#include "net.h"

int
main(void)
{
    struct timeval tv = {0, 30000};
    int fd = OK(socket(AF_INET, SOCK_STREAM, 0)), on = 1, small = 8192;
    struct linger lg = {1, 5};
    socklen_t len;
    double start;
    char c;
    int s[2];

    CHECK_EQ(option_of(fd, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
    CHECK_EQ(option_of(fd, SOL_SOCKET, SO_DOMAIN), AF_INET);
    CHECK_EQ(option_of(fd, SOL_SOCKET, SO_ERROR), 0);
    CHECK_EQ(option_of(fd, SOL_SOCKET, SO_REUSEADDR), 0);
    OK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
    CHECK_EQ(option_of(fd, SOL_SOCKET, SO_REUSEADDR), 1);
    OK(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on));
    CHECK_EQ(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    OK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
    CHECK(option_of(fd, IPPROTO_TCP, TCP_NODELAY) != 0);
    OK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &lg, sizeof lg));
    OK(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small));
    CHECK_EQ(option_of(fd, SOL_SOCKET, SO_RCVBUF), 2 * small); /* doubled */
    CHECK(option_of(fd, SOL_SOCKET, SO_SNDBUF) > 0);
    CHECK_ERR(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, 1), EINVAL);
    CHECK_ERR(setsockopt(fd, SOL_SOCKET, 9999, &on, sizeof on), ENOPROTOOPT);
    len = sizeof on;
    CHECK_ERR(getsockopt(fd, SOL_SOCKET, 9999, &on, &len), ENOPROTOOPT);
    CHECK_ERR(getsockopt(0, SOL_SOCKET, SO_TYPE, &on, &len), ENOTSOCK);
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    OK(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv));
    start = now_s();
    CHECK_ERR(recv(s[0], &c, 1, 0), EAGAIN);
    CHECK(now_s() - start >= 0.029);
    return 0;
}

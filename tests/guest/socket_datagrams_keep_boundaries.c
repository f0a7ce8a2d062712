/* Datagrams arrive one by one; what does not fit is cut: MSG_TRUNC. */
#include "net.h"

int
main(void)
{
    char buf[4] = "";
    struct iovec iov = {buf, 4};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    int s[2];

    OK(socketpair(AF_UNIX, SOCK_DGRAM, 0, s));
    CHECK_EQ(send(s[0], "one", 3, 0), 3);
    CHECK_EQ(send(s[0], "", 0, 0), 0);
    CHECK_EQ(send(s[0], "longer", 6, 0), 6);
    CHECK_EQ(send(s[0], "longer", 6, 0), 6);
    CHECK_EQ(send(s[0], "longer", 6, 0), 6);
    CHECK_EQ(send(s[0], "end", 3, 0), 3);
    CHECK_EQ(recv(s[1], buf, 4, MSG_PEEK), 3);
    CHECK_EQ(recv(s[1], buf, 4, 0), 3);
    CHECK_EQ(recv(s[1], buf, 4, 0), 0);         /* an empty one, not the end */
    CHECK_EQ(recv(s[1], buf, 4, 0), 4);         /* cut */
    CHECK_EQ(recv(s[1], buf, 4, MSG_TRUNC), 6); /* the real length */
    CHECK_EQ(recvmsg(s[1], &m, 0), 4);
    CHECK((m.msg_flags & MSG_TRUNC) != 0);
    CHECK_EQ(recvmsg(s[1], &m, 0), 3);
    CHECK_EQ(m.msg_flags & MSG_TRUNC, 0);
    CHECK_ERR(recv(s[1], buf, 4, MSG_DONTWAIT), EAGAIN);
    OK(close(s[1]));
    handle(SIGPIPE, note, 0);
    CHECK_ERR(send(s[0], "x", 1, 0), ECONNREFUSED);
    CHECK_EQ(caught[SIGPIPE], 0);
    return 0;
}

/* No room for control data: MSG_CTRUNC, fd closed; bad fd: EBADF at sending. */
#include "net.h"

int
main(void)
{
    char byte, room[CMSG_SPACE(sizeof(int))];
    struct iovec iov = {&byte, 1};
    struct msghdr m;
    int s[2], p[2], fd = -1;

    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    OK(pipe(p));
    send_fd(s[0], p[1]);
    OK(close(p[1]));
    memset(&m, 0, sizeof m);
    m.msg_iov = &iov;
    m.msg_iovlen = 1;
    CHECK_EQ(recvmsg(s[1], &m, 0), 1);
    CHECK((m.msg_flags & MSG_CTRUNC) != 0);
    CHECK_EQ(hear(p[0]), -1); /* the descriptor is gone */

    memset(room, 0, sizeof room);
    m.msg_control = room;
    m.msg_controllen = sizeof room;
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    h->cmsg_level = SOL_SOCKET;
    h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(h), &fd, sizeof fd);
    CHECK_ERR(sendmsg(s[0], &m, 0), EBADF);

    send_fd(s[0], s[0]); /* data sent later is a separate read */
    say(s[0], 'z');
    CHECK_EQ(read(s[1], room, 2), 1);
    CHECK_EQ(room[0], 'f');
    CHECK_EQ(hear(s[1]), 'z');
    return 0;
}

/* Sockets that only messages in each other's queues refer to go away: far more
 * of them can be made than may be open or in flight at once. */
#include "guest.h"

#include <sys/resource.h>
#include <sys/socket.h>

static int
send_both(const int s[2])
{
    union {
        char bytes[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr h;
    } c = {.h = {.cmsg_len = CMSG_LEN(2 * sizeof(int)),
                 .cmsg_level = SOL_SOCKET,
                 .cmsg_type = SCM_RIGHTS}};
    char data = 'x';
    struct iovec v = {&data, 1};
    struct msghdr m = {.msg_iov = &v,
                       .msg_iovlen = 1,
                       .msg_control = &c,
                       .msg_controllen = sizeof c.bytes};

    memcpy(CMSG_DATA(&c.h), s, 2 * sizeof *s);
    return (int)sendmsg(s[0], &m, 0);
}

int
main(void)
{
    int s[2], keep[2];

    for (int i = 0; i < 3000; i++) {
        OK(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
        /* Natively they are collected by another thread: it may be late. */
        while (send_both(s) < 0)
            CHECK_EQ(errno, ETOOMANYREFS);
        OK(close(s[0]));
        OK(close(s[1]));
    }
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, keep));
    CHECK_EQ(send_both(keep), 1);
    OK(close(keep[0]));
    CHECK_EQ(read(keep[1], s, 1), 1);
    CHECK_EQ(read(keep[1], s, 1), 0);
    return 0;
}

/* read, write and their vectored kin move one message of a datagram socket,
 * also an empty one. */
#include "guest.h"

#include <sys/socket.h>
#include <sys/uio.h>

static void
check(int type)
{
    char head[2], rest[8] = "", buf[16];
    struct iovec v[] = {{head, 2}, {rest, 8}};
    int s[2];

    OK(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, s));
    CHECK_EQ(write(s[0], "abcd", 4), 4);
    CHECK_EQ(write(s[0], "", 0), 0);
    CHECK_EQ(writev(s[0], v, 2), 10);
    CHECK_EQ(write(s[0], "z", 1), 1);
    CHECK_EQ(readv(s[1], v, 2), 4);
    CHECK(memcmp(head, "ab", 2) == 0 && memcmp(rest, "cd", 3) == 0);
    CHECK_EQ(read(s[1], buf, sizeof buf), 0);
    CHECK_EQ(read(s[1], buf, 3), 3); /* the rest is lost */
    CHECK_EQ(read(s[1], buf, sizeof buf), 1);
    CHECK_ERR(read(s[1], buf, sizeof buf), EAGAIN);
    OK(close(s[0]));
    OK(close(s[1]));
}

int
main(void)
{
    check(SOCK_DGRAM);
    check(SOCK_SEQPACKET);
    return 0;
}

/* sendmmsg and recvmmsg move several datagrams, each with its length. */
#include "net.h"

static struct mmsghdr mm[3];
static struct iovec iov[3];
static char buf[3][8];

static void
set_lengths(size_t first, size_t step)
{
    for (size_t i = 0; i < 3; i++) {
        iov[i] = (struct iovec){buf[i], first + i * step};
        mm[i].msg_hdr.msg_iov = &iov[i];
        mm[i].msg_hdr.msg_iovlen = 1;
    }
}

int
main(void)
{
    union addr a;
    int to = serve(AF_INET, SOCK_DGRAM);
    int from = OK(socket(AF_INET, SOCK_DGRAM, 0));
    socklen_t len = loopback(&a, AF_INET, port_of(to));

    OK(connect(from, &a.sa, len));
    memcpy(buf, "a\0\0\0\0\0\0\0bb\0\0\0\0\0\0ccc", 19);
    set_lengths(1, 1);
    CHECK_EQ(sendmmsg(from, mm, 3, 0), 3);
    CHECK_EQ(mm[2].msg_len, 3);

    memset(buf, 0, sizeof buf);
    set_lengths(8, 0);
    CHECK_EQ(recvmmsg(to, mm, 2, 0, NULL), 2);
    CHECK_EQ(mm[0].msg_len, 1);
    CHECK_EQ(mm[1].msg_len, 2);
    CHECK(memcmp(buf[1], "bb", 2) == 0);
    CHECK_EQ(recvmmsg(to, mm, 3, MSG_WAITFORONE, NULL), 1);
    CHECK_EQ(mm[0].msg_len, 3);
    CHECK_ERR(recvmmsg(to, mm, 3, MSG_DONTWAIT, NULL), EAGAIN);
    return 0;
}

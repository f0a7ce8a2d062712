/* SOCK_SEQPACKET: connected, ordered, with boundaries and an end of file. */
#include "net.h"

int
main(void)
{
    char buf[8] = "";
    int s[2];

    OK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s));
    CHECK_EQ(write(s[0], "one", 3), 3);
    CHECK_EQ(write(s[0], "second", 6), 6);
    CHECK_EQ(write(s[0], "third", 5), 5);
    CHECK_EQ(read(s[1], buf, sizeof buf), 3);
    CHECK_EQ(read(s[1], buf, 2), 2); /* the rest is lost */
    CHECK_EQ(read(s[1], buf, sizeof buf), 5);
    CHECK(memcmp(buf, "third", 5) == 0);
    OK(shutdown(s[0], SHUT_WR));
    CHECK_EQ(read(s[1], buf, sizeof buf), 0);
    CHECK_EQ(write(s[1], "back", 4), 4);
    CHECK_EQ(read(s[0], buf, sizeof buf), 4);
    OK(close(s[1]));
    handle(SIGPIPE, SIG_IGN, 0);
    CHECK_ERR(write(s[0], "x", 1), EPIPE);
    return 0;
}

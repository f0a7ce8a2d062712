/* A stream pair: both ways, no boundaries, names, options, end of file. */
#include "net.h"

int
main(void)
{
    char buf[16] = "";
    union addr a;
    socklen_t len = sizeof a;
    int s[2];

    OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s));
    CHECK_EQ(OK(fcntl(s[1], F_GETFD)), FD_CLOEXEC);
    CHECK(S_ISSOCK(({
        struct stat st;
        OK(fstat(s[0], &st));
        st.st_mode;
    })));
    CHECK_EQ(write(s[0], "ab", 2), 2);
    CHECK_EQ(send(s[0], "cd", 2, 0), 2);
    CHECK_EQ(read(s[1], buf, sizeof buf), 4);
    CHECK_STR(buf, "abcd");
    CHECK_EQ(write(s[1], "x", 1), 1);
    CHECK_EQ(recv(s[0], buf, sizeof buf, 0), 1);
    OK(getsockname(s[0], &a.sa, &len));
    CHECK_EQ(a.sa.sa_family, AF_UNIX);
    CHECK_EQ(len, sizeof(sa_family_t)); /* unnamed */
    CHECK_EQ(option_of(s[0], SOL_SOCKET, SO_TYPE), SOCK_STREAM);
    CHECK_ERR(lseek(s[0], 0, SEEK_SET), ESPIPE);
    OK(close(s[0]));
    CHECK_EQ(read(s[1], buf, 1), 0);
    CHECK_ERR(send(s[1], "x", 1, MSG_NOSIGNAL), EPIPE);
    CHECK_ERR(socketpair(AF_INET, SOCK_STREAM, 0, s), EOPNOTSUPP);
    CHECK_ERR(socketpair(AF_UNIX, 77, 0, s), EINVAL);
    return 0;
}

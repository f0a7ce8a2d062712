/* MSG_PEEK, MSG_DONTWAIT and MSG_WAITALL on streams; recv with iov. */
#include "net.h"

static void
flags(int a, int b)
{
    char buf[16] = "", buf2[16] = "";
    struct iovec iov[2] = {{buf, 2}, {buf2, 8}};
    struct msghdr m = {.msg_iov = iov, .msg_iovlen = 2};
    pid_t pid;

    CHECK_ERR(recv(b, buf, 4, MSG_DONTWAIT), EAGAIN);
    CHECK_EQ(send(a, "abcd", 4, 0), 4);
    CHECK_EQ(recv(b, buf, 2, MSG_PEEK), 2);
    CHECK_EQ(recv(b, buf, 16, MSG_PEEK | MSG_DONTWAIT), 4);
    pid = SPAWN(num(a));
    CHECK_EQ(recv(b, buf, 6, MSG_WAITALL), 6); /* waits for the child's */
    CHECK(memcmp(buf, "abcdef", 6) == 0);
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_EQ(send(a, "part", 4, 0), 4);
    handle(SIGALRM, note, SA_RESTART);
    tick(20);
    CHECK_EQ(recv(b, buf, 6, MSG_WAITALL), 4); /* a handler ends the wait */
    tick(0);
    iov[0].iov_base = "12";
    iov[1] = (struct iovec){"3456", 4};
    CHECK_EQ(sendmsg(a, &m, 0), 6);
    iov[0].iov_base = buf;
    iov[1] = (struct iovec){buf2, 8};
    CHECK_EQ(recvmsg(b, &m, 0), 6);
    CHECK(memcmp(buf, "12", 2) == 0 && memcmp(buf2, "3456", 4) == 0);
}

int
main(int argc, char **argv)
{
    int s[2];

    if (argc > 1) {
        wait_state(getppid(), 'S');
        return write(atoi(argv[1]), "ef", 2) != 2;
    }
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    flags(s[0], s[1]);
    tcp_pair(s);
    flags(s[0], s[1]);
    return 0;
}

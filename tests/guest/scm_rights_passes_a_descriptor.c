/* A descriptor sent over a socket is the same open file, in a child too. */
#include "net.h"

int
main(int argc, char **argv)
{
    char text[8] = "";
    int s[2], p[2], fd, got;
    pid_t pid;

    if (argc > 1) {
        got = recv_fd(atoi(argv[1]), 0);
        CHECK_EQ(lseek(got, 0, SEEK_CUR), 3);
        CHECK_EQ(write(got, "child", 5), 5);
        return 0;
    }
    tmpdir();
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    keep_private(s[0]);
    put("file", "abcdef");
    fd = OK(open("file", O_RDWR | O_CLOEXEC));
    CHECK_EQ(read(fd, text, 3), 3);
    pid = SPAWN(num(s[1]));
    send_fd(s[0], fd);
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 8); /* one offset for both */
    CHECK_FILE("file", "abcchild");

    OK(pipe(p));
    send_fd(s[0], p[1]);
    OK(close(p[1])); /* in flight it stays open */
    got = recv_fd(s[1], MSG_CMSG_CLOEXEC);
    CHECK(got > 2 && got != p[0]);
    CHECK_EQ(OK(fcntl(got, F_GETFD)), FD_CLOEXEC);
    say(got, 'x');
    CHECK_EQ(hear(p[0]), 'x');
    send_fd(s[0], got);
    OK(close(got));
    OK(close(s[0]));
    OK(close(s[1])); /* a message never received closes what it carries */
    CHECK_EQ(hear(p[0]), -1);
    return 0;
}

/* SO_PEERCRED of a pair and SCM_CREDENTIALS of a message name the sender. */
#include "net.h"

int
main(int argc, char **argv)
{
    char byte, room[CMSG_SPACE(sizeof(struct ucred))];
    struct iovec iov = {&byte, 1};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    struct ucred uc;
    socklen_t len = sizeof uc;
    struct cmsghdr *h;
    int s[2], on = 1;
    pid_t pid;

    if (argc > 1) {
        say(atoi(argv[1]), 'x');
        return 0;
    }
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
    OK(getsockopt(s[0], SOL_SOCKET, SO_PEERCRED, &uc, &len));
    CHECK_EQ(uc.pid, getpid());
    CHECK_EQ(uc.uid, getuid());
    CHECK_EQ(uc.gid, getgid());
    OK(setsockopt(s[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on));
    pid = SPAWN(num(s[1]));
    m.msg_control = room;
    m.msg_controllen = sizeof room;
    CHECK_EQ(OK(recvmsg(s[0], &m, 0)), 1);
    h = CMSG_FIRSTHDR(&m);
    CHECK(h != NULL && h->cmsg_type == SCM_CREDENTIALS);
    memcpy(&uc, CMSG_DATA(h), sizeof uc);
    CHECK_EQ(uc.pid, pid); /* who wrote, not who made the pair */
    CHECK_EQ(uc.uid, getuid());
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}

/* bind makes a socket file; connect and accept work through it; errors. */
#include "net.h"

int
main(int argc, char **argv)
{
    union addr a, b;
    socklen_t len = unix_name(&a, "sock"), blen;
    int l, c, s;
    pid_t pid;

    if (argc > 1) {
        c = OK(socket(AF_UNIX, SOCK_STREAM, 0));
        OK(connect(c, &a.sa, len));
        blen = sizeof b;
        OK(getpeername(c, &b.sa, &blen));
        CHECK_STR(b.un.sun_path, "sock");
        say(c, 'q');
        CHECK_EQ(hear(c), 'a');
        return 0;
    }
    (void)argv;
    tmpdir();
    l = OK(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    CHECK_ERR(connect(l, &a.sa, len), ENOENT);
    OK(bind(l, &a.sa, len));
    CHECK(S_ISSOCK(stat_of("sock").st_mode));
    CHECK_EQ(stat_of("sock").st_mode & 0777, 0755); /* 0777 and the umask */
    c = OK(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    CHECK_ERR(connect(c, &a.sa, len), ECONNREFUSED); /* does not listen */
    CHECK_ERR(bind(c, &a.sa, len), EADDRINUSE);
    CHECK_ERR(open("sock", O_RDWR), ENXIO);
    OK(listen(l, 4));
    CHECK_EQ(option_of(l, SOL_SOCKET, SO_ACCEPTCONN), 1);
    pid = SPAWN("x");
    blen = sizeof b;
    s = OK(accept4(l, &b.sa, &blen, SOCK_CLOEXEC));
    CHECK_EQ(blen, sizeof(sa_family_t)); /* the client has no name */
    CHECK_EQ(hear(s), 'q');
    say(s, 'a');
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_EQ(hear(s), -1);
    OK(close(l));
    CHECK_ERR(connect(c, &a.sa, len), ECONNREFUSED); /* a stale file */
    OK(unlink("sock"));
    return 0;
}

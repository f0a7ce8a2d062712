/* Closing the master: SIGHUP to the session leader, end of file, EIO. */
#include "tty.h"

static int
session(const char *name, int out)
{
    sigset_t none = set_of(0);
    int fd = start_session(name);
    struct pollfd pf = {.fd = fd, .events = POLLIN | POLLOUT};
    char c;

    mask(SIG_BLOCK, SIGHUP);
    handle(SIGHUP, note, 0);
    say(out, 'r');
    CHECK_ERR(sigsuspend(&none), EINTR);
    CHECK_EQ(caught[SIGHUP], 1);
    CHECK_EQ(read(fd, &c, 1), 0);
    CHECK_ERR(write(fd, "x", 1), EIO);
    CHECK_EQ(poll(&pf, 1, 0), 1);
    CHECK((pf.revents & POLLHUP) != 0);
    CHECK_ERR(open("/dev/tty", O_RDWR), ENXIO);
    CHECK(open(name, O_RDWR) < 0);
    say(out, 'k');
    return 0;
}

int
main(int argc, char **argv)
{
    struct pollfd pf = {.events = POLLIN};
    struct pty t;
    int p[2];
    pid_t pid;
    char c;

    if (argc > 1)
        return session(argv[1], atoi(argv[2]));
    t = pty_new();
    type(t.slave, "bye");
    OK(close(t.slave)); /* the other way: the last slave closes */
    EXPECT(t.master, "bye");
    CHECK_ERR(read(t.master, &c, 1), EIO);
    pf.fd = t.master;
    CHECK_EQ(poll(&pf, 1, 0), 1);
    CHECK((pf.revents & POLLHUP) != 0);
    t.slave = OK(open(t.name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    CHECK_EQ(poll(&pf, 1, 0), 0); /* alive again */

    report_pipe(p);
    pid = SPAWN(t.name, num(p[1]));
    CHECK_EQ(hear(p[0]), 'r');
    OK(close(t.master));
    CHECK_EQ(hear(p[0]), 'k');
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}

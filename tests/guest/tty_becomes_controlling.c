/* How a session gets, names and gives up its controlling terminal. */
#include "tty.h"

static int
session(const char *name)
{
    int fd, tty;

    OK(setsid());
    CHECK_ERR(open("/dev/tty", O_RDWR), ENXIO);
    fd = OK(open(name, O_RDWR | O_NOCTTY));
    CHECK_ERR(open("/dev/tty", O_RDWR), ENXIO);
    CHECK_ERR(tcgetpgrp(fd), ENOTTY);
    OK(ioctl(fd, TIOCSCTTY, 0));
    OK(ioctl(fd, TIOCSCTTY, 0)); /* ours already: fine */
    tty = OK(open("/dev/tty", O_RDWR));
    CHECK(isatty(tty));
    CHECK_EQ(tcgetpgrp(tty), getpgrp());
    type(tty, "via tty\n");
    handle(SIGHUP, note, 0); /* the leader hangs up its own group */
    handle(SIGCONT, note, 0);
    OK(ioctl(fd, TIOCNOTTY));
    CHECK_EQ(caught[SIGHUP], 1);
    CHECK_EQ(caught[SIGCONT], 1);
    CHECK_ERR(open("/dev/tty", O_RDWR), ENXIO);
    fd = OK(open(name, O_RDWR)); /* the first one opened is it */
    CHECK_EQ(tcgetsid(fd), getpid());
    return 0;
}

int
main(int argc, char **argv)
{
    struct pty t;
    pid_t pid;

    if (argc > 1)
        return session(argv[1]);
    t = pty_new();
    if (getsid(0) != getpid()) /* only a session leader may take one */
        CHECK_ERR(ioctl(t.slave, TIOCSCTTY, 0), EPERM);
    pid = SPAWN(t.name);
    EXPECT(t.master, "via tty\r\n");
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}

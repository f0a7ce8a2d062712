/* FIONREAD counts finished input, tcflush drops it, TCSAFLUSH too. */
#include "tty.h"

static int
waiting(int fd)
{
    int n;

    OK(ioctl(fd, FIONREAD, &n));
    return n;
}

int
main(void)
{
    struct pty t = pty_new();
    struct termios tio;

    CHECK_EQ(waiting(t.slave), 0);
    type(t.master, "one\ntwo\npart");
    EXPECT(t.master, "one\r\ntwo\r\npart"); /* all of it has arrived */
    CHECK_EQ(waiting(t.slave), 8);          /* whole lines only */
    OK(tcflush(t.slave, TCIFLUSH));
    CHECK_EQ(waiting(t.slave), 0);
    CHECK(!is_readable(t.slave));
    type(t.master, "x\n");
    EXPECT(t.master, "x\r\n");
    tio = modes(t.slave);
    OK(tcsetattr(t.slave, TCSAFLUSH, &tio));
    type(t.master, "last\n");
    EXPECT_READ(t.slave, "last\n");
    CHECK_ERR(tcflush(t.slave, 77), EINVAL);
    OK(tcdrain(t.slave));
    return 0;
}

/* Canonical mode: nothing before the newline, one line for each read. */
#include "tty.h"

int
main(void)
{
    struct pty t = pty_new();
    char buf[8] = "";
    int n;

    type(t.master, "ab");
    EXPECT(t.master, "ab"); /* the echo: it has been processed */
    CHECK(!is_readable(t.slave));
    OK(fcntl(t.slave, F_SETFL, O_NONBLOCK));
    CHECK_ERR(read(t.slave, buf, 8), EAGAIN);
    OK(fcntl(t.slave, F_SETFL, 0));
    type(t.master, "c\nsecond\nthi");
    EXPECT_READ(t.slave, "abc\n");
    CHECK_EQ(read(t.slave, buf, 3), 3); /* a short buffer leaves the rest */
    CHECK_STR(buf, "sec");
    OK(ioctl(t.slave, FIONREAD, &n));
    CHECK_EQ(n, 4);
    EXPECT_READ(t.slave, "ond\n");
    type(t.master, "rd\n");
    EXPECT_READ(t.slave, "third\n");
    type(t.master, "\n");
    EXPECT_READ(t.slave, "\n");
    return 0;
}

/* ECHO, ECHONL, ECHOCTL and the visible rubout of ECHOE. */
#include "tty.h"

int
main(void)
{
    struct pty t = pty_new();

    type(t.master, "hi\n");
    EXPECT(t.master, "hi\r\n");
    type(t.master, "\x01");
    EXPECT(t.master, "^A");
    type(t.master, "x\x7f");
    EXPECT(t.master, "x\b \b");
    type(t.master, "\x7f"); /* ^A takes two columns */
    EXPECT(t.master, "\b \b\b \b");
    type(t.master, "\n");
    EXPECT(t.master, "\r\n");
    EXPECT_READ(t.slave, "hi\n");
    EXPECT_READ(t.slave, "\n");
    set_lflag(t.slave, ECHO, 0);
    type(t.master, "secret\n");
    EXPECT_READ(t.slave, "secret\n");
    CHECK(!is_readable(t.master));
    set_lflag(t.slave, 0, ECHONL);
    type(t.master, "secret\n");
    EXPECT_READ(t.slave, "secret\n");
    EXPECT(t.master, "\r\n");
    CHECK(!is_readable(t.master));
    return 0;
}

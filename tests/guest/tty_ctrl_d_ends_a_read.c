/* ^D: end of file on an empty line, otherwise it hands over what is there. */
#include "tty.h"

int
main(void)
{
    struct pty t = pty_new();
    char c;

    set_lflag(t.slave, ECHO, 0);
    type(t.master, "\x04");
    CHECK_EQ(read(t.slave, &c, 1), 0);
    type(t.master, "part\x04");
    EXPECT_READ(t.slave, "part"); /* without a newline */
    CHECK(!is_readable(t.slave));
    type(t.master, "a\x04\x04"
                   "b\n");
    EXPECT_READ(t.slave, "a");
    CHECK_EQ(read(t.slave, &c, 1), 0); /* the second one */
    EXPECT_READ(t.slave, "b\n");       /* the end is not for ever */
    return 0;
}

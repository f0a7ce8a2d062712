/* Erase, word erase, kill and literal-next work on the line being typed. */
#include "tty.h"

int
main(void)
{
    struct pty t = pty_new();

    set_lflag(t.slave, ECHO, 0);
    type(t.master, "abX\x7f"
                   "c\n");
    EXPECT_READ(t.slave, "abc\n");
    type(t.master, "\x7f\x7fok\n"); /* erase at the start does nothing */
    EXPECT_READ(t.slave, "ok\n");
    type(t.master, "one two  \x17three\n");
    EXPECT_READ(t.slave, "one three\n");
    type(t.master, "all gone\x15new\n");
    EXPECT_READ(t.slave, "new\n");
    type(t.master, "a\x16\x7f"
                   "b\x16\x03\n"); /* ^V makes them plain characters */
    EXPECT_READ(t.slave, "a\x7f"
                         "b\x03\n");
    type(t.master, "done\nx\x15\x7f\x7fy\n"); /* never into a finished line */
    EXPECT_READ(t.slave, "done\n");
    EXPECT_READ(t.slave, "y\n");
    return 0;
}

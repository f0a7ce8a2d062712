/* Raw mode: VMIN and VTIME decide when a read returns; no translation. */
#include "tty.h"

int
main(int argc, char **argv)
{
    struct pty t;
    char buf[16] = "";
    double start;
    pid_t pid;

    if (argc > 1) {
        wait_state(getppid(), 'S');
        type(atoi(argv[1]), "c");
        return 0;
    }
    t = pty_new();
    set_raw(t.slave, 1, 0);
    type(t.master, "a\r\x03\x04");
    EXPECT(t.slave, "a\r\x03\x04");
    CHECK(!is_readable(t.master)); /* no echo */
    set_raw(t.slave, 3, 0);
    OK(fcntl(t.master, F_SETFD, 0));
    type(t.master, "ab");
    pid = SPAWN(num(t.master));
    CHECK_EQ(read(t.slave, buf, 16), 3); /* waits for the child's byte */
    CHECK_STR(buf, "abc");
    CHECK_EQ(wait_exit(pid), 0);
    set_raw(t.slave, 0, 0);
    CHECK_EQ(read(t.slave, buf, 16), 0); /* never waits */
    set_raw(t.slave, 0, 1);
    start = now_s();
    CHECK_EQ(read(t.slave, buf, 16), 0);
    CHECK(now_s() - start >= 0.09);
    set_raw(t.slave, 5, 1); /* the time runs between bytes */
    type(t.master, "xy");
    CHECK_EQ(read(t.slave, buf, 16), 2);
    type(t.slave, "1\n2\n");
    EXPECT(t.master, "1\n2\n");
    return 0;
}

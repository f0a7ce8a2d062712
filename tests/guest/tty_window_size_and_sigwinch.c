/* The window size is one for both ends; a change signals the foreground. */
#include "tty.h"

int
main(int argc, char **argv)
{
    struct winsize ws = {24, 80, 0, 0}, got;
    sigset_t none = set_of(0);
    struct pty t;
    int p[2], fd;
    pid_t pid;

    if (argc > 1) {
        fd = start_session(argv[1]);
        mask(SIG_BLOCK, SIGWINCH);
        handle(SIGWINCH, note, 0);
        say(atoi(argv[2]), 'r');
        CHECK_ERR(sigsuspend(&none), EINTR);
        OK(ioctl(fd, TIOCGWINSZ, &got));
        CHECK(got.ws_row == 50 && got.ws_col == 132);
        say(atoi(argv[2]), 'w');
        EXPECT_READ(fd, "\n");
        CHECK_EQ(caught[SIGWINCH], 1);
        CHECK(!is_pending(SIGWINCH)); /* setting the same size again */
        return 0;
    }
    t = pty_new();
    OK(ioctl(t.slave, TIOCGWINSZ, &got));
    CHECK(got.ws_row == 0 && got.ws_col == 0);
    OK(ioctl(t.slave, TIOCSWINSZ, &ws));
    OK(ioctl(t.master, TIOCGWINSZ, &got));
    CHECK(memcmp(&ws, &got, sizeof ws) == 0);
    report_pipe(p);
    pid = SPAWN(t.name, num(p[1]));
    CHECK_EQ(hear(p[0]), 'r');
    ws = (struct winsize){50, 132, 0, 0};
    OK(ioctl(t.master, TIOCSWINSZ, &ws));
    CHECK_EQ(hear(p[0]), 'w');
    OK(ioctl(t.master, TIOCSWINSZ, &ws));
    type(t.master, "\n");
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_ERR(ioctl(p[0], TIOCGWINSZ, &ws), ENOTTY);
    return 0;
}

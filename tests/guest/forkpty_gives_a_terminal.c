/* post: fork */
/* forkpty: the child leads a session on a terminal that is its stdio. */
#include "tty.h"

#include <pty.h>

int
main(void)
{
    struct winsize ws = {30, 90, 0, 0}, got;
    char line[64] = "";
    int master;
    pid_t pid = OK(forkpty(&master, NULL, NULL, &ws));

    if (pid == 0) {
        if (!isatty(0) || !isatty(1) || !isatty(2))
            _exit(2);
        if (getsid(0) != getpid() || tcgetpgrp(0) != getpid())
            _exit(3);
        if (ioctl(0, TIOCGWINSZ, &got) < 0 || got.ws_col != 90)
            _exit(4);
        if (read(0, line, sizeof line) != 4)
            _exit(5);
        printf("got %s", line);
        fflush(stdout);
        if (read(0, line, sizeof line) != 0) /* ^D */
            _exit(6);
        exit(21);
    }
    type(master, "abc\n");
    EXPECT(master, "abc\r\ngot abc\r\n");
    type(master, "\x04");
    CHECK_EQ(wait_exit(pid), 21);
    return 0;
}

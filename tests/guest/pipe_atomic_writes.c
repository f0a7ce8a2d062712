/* Writes of at most PIPE_BUF bytes from several processes never mix. */
#include "guest.h"

#include <limits.h>

int
main(int argc, char **argv)
{
    static char buf[PIPE_BUF];
    int fds[2];

    if (argc > 1) {
        memset(buf, argv[1][0], sizeof buf);
        for (int i = 0; i < 200; i++)
            CHECK_EQ(write(10, buf, sizeof buf), PIPE_BUF);
        return 0;
    }
    CHECK_EQ(PIPE_BUF, 4096);
    OK(pipe2(fds, O_CLOEXEC));
    CHECK_EQ(dup2(fds[1], 10), 10);
    pid_t pids[] = {spawn_self("a"), spawn_self("b"), spawn_self("c")};
    OK(close(10));
    OK(close(fds[1]));

    int count[3] = {0};
    for (;;) {
        size_t len = 0;
        ssize_t n;
        while (len < sizeof buf &&
               (n = OK(read(fds[0], buf + len, sizeof buf - len))) > 0)
            len += (size_t)n;
        if (len == 0)
            break;
        CHECK_EQ(len, PIPE_BUF);
        for (int i = 1; i < PIPE_BUF; i++)
            CHECK(buf[i] == buf[0]);
        count[buf[0] - 'a']++;
    }
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(wait_exit(pids[i]), 0);
        CHECK_EQ(count[i], 200);
    }
    return 0;
}

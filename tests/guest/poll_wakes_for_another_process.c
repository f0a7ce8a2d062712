/* A waiting poll ends when a child writes, and again when it closes. */
#include "proc.h"

int
main(int argc, char **argv)
{
    struct pollfd pf[2] = {{-1, POLLIN, 0}, {-1, POLLIN, 0}};
    int a[2], b[2], go[2];
    pid_t pid;

    if (argc > 1) {
        CHECK_EQ(hear(atoi(argv[1])), 'g');
        say(atoi(argv[2]), 'x');
        CHECK_EQ(hear(atoi(argv[1])), 'g');
        return 0;
    }
    report_pipe(a);
    report_pipe(b);
    OK(pipe(go));
    keep_private(go[1]);
    pf[0].fd = a[0];
    pf[1].fd = b[0];
    pid = SPAWN(num(go[0]), num(b[1]));
    OK(close(a[1]));
    OK(close(b[1]));
    CHECK_EQ(poll(pf + 1, 1, 20), 0);
    say(go[1], 'g');
    CHECK_EQ(poll(pf + 1, 1, -1), 1);
    CHECK_EQ(pf[1].revents, POLLIN);
    CHECK_EQ(hear(b[0]), 'x');
    say(go[1], 'g');
    CHECK(poll(pf, 2, -1) >= 1); /* the child has left and its copies with it */
    CHECK(pf[0].revents == POLLHUP || pf[1].revents == POLLHUP);
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_EQ(poll(pf, 2, -1), 2);
    return 0;
}

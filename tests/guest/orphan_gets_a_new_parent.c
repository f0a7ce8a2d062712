/* When its parent dies a process is given to init (or a subreaper). */
#include "proc.h"

static int
grandchild(pid_t parent, int in, int out)
{
    CHECK_EQ(getppid(), parent);
    say(out, 'r');
    CHECK_EQ(hear(in), 'g'); /* the parent is dead and reaped */
    CHECK(getppid() != parent);
    CHECK(getppid() >= 1);
    CHECK(kill(getppid(), 0) == 0 || errno == EPERM);
    say(out, 'k');
    return 0;
}

int
main(int argc, char **argv)
{
    int out[2], in[2], end[2];
    pid_t pid;

    if (argc > 1 && strcmp(argv[1], "child") == 0) {
        SPAWN("grandchild", num(getpid()), argv[2], argv[3]);
        return hear(atoi(argv[4])) != 'x'; /* without waiting for it */
    }
    if (argc > 1)
        return grandchild(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
    report_pipe(out);
    OK(pipe(in));
    OK(pipe(end));
    keep_private(in[1]);
    pid = SPAWN("child", num(in[0]), num(out[1]), num(end[0]));
    OK(close(out[1]));
    CHECK_EQ(hear(out[0]), 'r');
    say(end[1], 'x');
    CHECK_EQ(wait_exit(pid), 0);
    say(in[1], 'g');
    CHECK_EQ(hear(out[0]), 'k');
    CHECK_EQ(hear(out[0]), -1);
    CHECK_ERR(wait(NULL), ECHILD); /* never ours */
    return 0;
}

/* ^C and ^\ signal the foreground group, flush input; not with ISIG off. */
#include "tty.h"

static int
session(const char *name, int out)
{
    sigset_t none = set_of(0);
    int fd = start_session(name);

    handle(SIGINT, note, 0);
    handle(SIGQUIT, note, 0);
    mask(SIG_BLOCK, SIGINT);
    mask(SIG_BLOCK, SIGQUIT);
    say(out, 'r');
    while (!caught[SIGINT])
        sigsuspend(&none);
    say(out, 'i');
    while (!caught[SIGQUIT])
        sigsuspend(&none);
    say(out, 'q');
    EXPECT_READ(fd, "after\n"); /* "lost" was flushed */
    set_lflag(fd, ISIG, 0);
    say(out, 'o');
    EXPECT_READ(fd, "\x03\n");
    CHECK(!is_pending(SIGINT));
    return 0;
}

int
main(int argc, char **argv)
{
    struct pty t;
    int p[2];
    pid_t pid;

    if (argc > 1)
        return session(argv[1], atoi(argv[2]));
    t = pty_new();
    report_pipe(p);
    pid = SPAWN(t.name, num(p[1]));
    OK(close(p[1]));
    CHECK_EQ(hear(p[0]), 'r');
    type(t.master, "lost");
    EXPECT(t.master, "lost"); /* read now: ^C also drops pending output */
    type(t.master, "\x03");
    EXPECT(t.master, "^C");
    CHECK_EQ(hear(p[0]), 'i');
    type(t.master, "\x1c");
    CHECK_EQ(hear(p[0]), 'q');
    type(t.master, "after\n");
    CHECK_EQ(hear(p[0]), 'o');
    type(t.master, "\x03\n");
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}

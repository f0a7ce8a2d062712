/* ^Z stops the foreground job; the shell takes the terminal and resumes it. */
#include "tty.h"

static int
shell(const char *name, int out)
{
    int fd = start_session(name), p[2], st;
    pid_t job;

    handle(SIGTTOU, SIG_IGN, 0);
    handle(SIGTSTP, SIG_IGN, 0);
    report_pipe(p);
    job = SPAWN_JOB("job", name, num(p[1]));
    OK(tcsetpgrp(fd, job));
    CHECK_EQ(tcgetpgrp(fd), job);
    CHECK_EQ(hear(p[0]), 'r');
    say(out, 'r');
    CHECK_EQ(wait_stopped(job), SIGTSTP);
    OK(tcsetpgrp(fd, getpgrp()));
    say(out, 's');
    EXPECT_READ(fd, "to shell\n");
    OK(tcsetpgrp(fd, job));
    OK(kill(-job, SIGCONT));
    CHECK_EQ(OK(waitpid(job, &st, WCONTINUED)), job);
    say(out, 'c');
    CHECK_EQ(wait_killed(job), SIGINT);
    return 0;
}

int
main(int argc, char **argv)
{
    struct pty t;
    int p[2];
    pid_t pid;

    if (argc > 1 && strcmp(argv[1], "job") == 0) {
        handle(SIGTSTP, SIG_DFL, 0);
        say(atoi(argv[3]), 'r');
        for (;;)
            pause();
    }
    if (argc > 1)
        return shell(argv[1], atoi(argv[2]));
    t = pty_new();
    report_pipe(p);
    pid = SPAWN(t.name, num(p[1]));
    OK(close(p[1]));
    CHECK_EQ(hear(p[0]), 'r');
    type(t.master, "\x1a");
    CHECK_EQ(hear(p[0]), 's');
    type(t.master, "to shell\n");
    CHECK_EQ(hear(p[0]), 'c');
    type(t.master, "\x03");
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}

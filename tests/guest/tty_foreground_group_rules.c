/* tcgetpgrp, tcsetpgrp and tcgetsid: answers and errors. */
#include "tty.h"

static int
session(const char *name, const char *other)
{
    int fd = start_session(name), alien = OK(open(other, O_RDWR | O_NOCTTY));
    pid_t job;

    CHECK_EQ(tcgetpgrp(fd), getpgrp()); /* ours from the start */
    CHECK_EQ(tcgetsid(fd), getpid());
    job = SPAWN_JOB("job");
    OK(tcsetpgrp(fd, job));
    CHECK_EQ(tcgetpgrp(fd), job);
    handle(SIGTTOU, SIG_IGN, 0); /* we are in the background now */
    OK(tcsetpgrp(fd, getpgrp()));
    CHECK_ERR(tcsetpgrp(fd, getppid()), EPERM); /* in another session */
    CHECK_ERR(tcsetpgrp(fd, -5), EINVAL);
    end_child(job);
    CHECK_ERR(tcsetpgrp(fd, job), ESRCH);
    CHECK_ERR(tcgetpgrp(alien), ENOTTY); /* not our terminal */
    CHECK_ERR(tcsetpgrp(alien, getpgrp()), ENOTTY);
    return 0;
}

int
main(int argc, char **argv)
{
    struct pty t, u;
    int p[2];

    if (argc > 1 && strcmp(argv[1], "job") == 0)
        for (;;)
            pause();
    if (argc > 1)
        return session(argv[1], argv[2]);
    if (getpgrp() != getpid())
        OK(setpgid(0, 0)); /* so that our pid names a group */
    t = pty_new();
    u = pty_new();
    OK(pipe(p));
    CHECK_ERR(tcgetpgrp(p[0]), ENOTTY);
    CHECK_EQ(wait_exit(SPAWN(t.name, u.name)), 0);
    return 0;
}

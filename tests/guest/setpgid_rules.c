/* Who may move whom between process groups, and the errors. */
#include "proc.h"

static int
session(void)
{
    OK(setsid());
    CHECK_EQ(getpgrp(), getpid());
    CHECK_EQ(getsid(0), getpid());
    CHECK_ERR(setsid(), EPERM);      /* a group leader already */
    CHECK_ERR(setpgid(0, 0), EPERM); /* a session leader stays */
    return 0;
}

int
main(int argc, char **argv)
{
    int p[2];
    pid_t pid;

    if (argc > 1 && strcmp(argv[1], "session") == 0)
        return session();
    if (argc > 1) {
        say(atoi(argv[2]), 'r');
        for (;;)
            pause();
    }
    report_pipe(p);
    CHECK_EQ(wait_exit(SPAWN("session")), 0);
    pid = SPAWN("child", num(p[1]));
    CHECK_EQ(hear(p[0]), 'r');
    CHECK_EQ(getpgid(pid), getpgrp());
    CHECK_EQ(getsid(pid), getsid(0));
    CHECK_ERR(setpgid(pid, pid), EACCES); /* it has executed */
    CHECK_ERR(setpgid(0, -1), EINVAL);
    CHECK_ERR(setpgid(-1, 0), EINVAL); /* the group would be -1 */
    CHECK_ERR(setpgid(-1, getpgrp()), ESRCH);
    CHECK_ERR(setpgid(0, pid), EPERM);       /* no such group */
    CHECK_ERR(setpgid(getppid(), 0), ESRCH); /* not a child */
    end_child(pid);
    CHECK_ERR(setpgid(pid, 0), ESRCH);
    CHECK_ERR(getpgid(pid), ESRCH);
    CHECK_ERR(getsid(pid), ESRCH);
    return 0;
}

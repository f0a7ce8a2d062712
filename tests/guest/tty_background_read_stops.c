/* Reading the terminal from the background: SIGTTIN, or EIO when ignored. */
#include "tty.h"

static int
job(const char *how)
{
    int fd = OK(open("/dev/tty", O_RDWR));
    char c;

    if (strcmp(how, "ignored") == 0) {
        handle(SIGTTIN, SIG_IGN, 0);
        CHECK_ERR(read(fd, &c, 1), EIO);
        return 3;
    }
    if (strcmp(how, "handled") == 0) {
        handle(SIGTTIN, note, 0);
        CHECK_ERR(read(fd, &c, 1), EINTR);
        CHECK_EQ(caught[SIGTTIN], 1);
        return 4;
    }
    EXPECT_READ(fd, "x\n"); /* stops, then reads in the foreground */
    return 5;
}

static int
session(const char *name)
{
    int fd = start_session(name);
    pid_t pid;

    CHECK_EQ(wait_exit(SPAWN_JOB("job", "ignored")), 3);
    CHECK_EQ(wait_exit(SPAWN_JOB("job", "handled")), 4);
    pid = SPAWN_JOB("job", "plain");
    CHECK_EQ(wait_stopped(pid), SIGTTIN);
    OK(tcsetpgrp(fd, pid));
    OK(kill(-pid, SIGCONT));
    CHECK_EQ(wait_exit(pid), 5);
    return 0;
}

int
main(int argc, char **argv)
{
    struct pty t;
    pid_t pid;

    if (argc > 2)
        return job(argv[2]);
    if (argc > 1)
        return session(argv[1]);
    t = pty_new();
    pid = SPAWN(t.name);
    type(t.master, "x\n");
    CHECK_EQ(wait_exit(pid), 0);
    return 0;
}

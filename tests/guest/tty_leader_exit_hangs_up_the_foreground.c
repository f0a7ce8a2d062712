/* When a session leader ends, its foreground group gets SIGHUP. */
#include "tty.h"

int
main(int argc, char **argv)
{
    struct pty t;
    int p[2], fd;
    pid_t pid, job;

    if (argc > 1 && strcmp(argv[1], "job") == 0) {
        sigset_t none = set_of(0);

        mask(SIG_BLOCK, SIGHUP);
        handle(SIGHUP, note, 0);
        say(atoi(argv[3]), 'r');
        CHECK_ERR(sigsuspend(&none), EINTR);
        CHECK_ERR(open("/dev/tty", O_RDWR), ENXIO);
        say(atoi(argv[2]), 'h');
        return 0;
    }
    if (argc > 1) {
        fd = start_session(argv[1]);
        report_pipe(p);
        job = SPAWN_JOB("job", argv[2], num(p[1]));
        OK(tcsetpgrp(fd, job));
        return hear(p[0]) == 'r' ? 0 : 1;
    }
    t = pty_new();
    report_pipe(p);
    pid = SPAWN(t.name, num(p[1]));
    OK(close(p[1]));
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_EQ(hear(p[0]), 'h');
    CHECK_EQ(hear(p[0]), -1);
    return 0;
}

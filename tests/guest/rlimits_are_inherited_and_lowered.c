/* Limits pass to children; soft moves below hard, hard only down. */
#include "proc.h"

int
main(int argc, char **argv)
{
    struct rlimit rl, old;
    pid_t pid;
    int p[2];

    if (argc > 1) {
        OK(getrlimit(RLIMIT_NOFILE, &rl));
        CHECK_EQ(rl.rlim_cur, 50);
        CHECK_EQ(rl.rlim_max, 60);
        say(atoi(argv[1]), 'r');
        for (;;)
            pause();
    }
    as_user();
    report_pipe(p);
    rl = (struct rlimit){50, 60};
    OK(setrlimit(RLIMIT_NOFILE, &rl));
    pid = SPAWN(num(p[1]));
    CHECK_EQ(hear(p[0]), 'r');
    rl.rlim_cur = 60;
    OK(prlimit(pid, RLIMIT_NOFILE, &rl, &old)); /* of another process */
    CHECK_EQ(old.rlim_cur, 50);
    OK(prlimit(pid, RLIMIT_NOFILE, NULL, &old));
    CHECK_EQ(old.rlim_cur, 60);
    end_child(pid);
    rl.rlim_cur = 61;
    CHECK_ERR(setrlimit(RLIMIT_NOFILE, &rl), EINVAL);
    rl.rlim_max = 61;
    CHECK_ERR(setrlimit(RLIMIT_NOFILE, &rl), EPERM);
    CHECK_ERR(getrlimit(99, &rl), EINVAL);
    CHECK_ERR(prlimit(0x3ffffff, RLIMIT_NOFILE, NULL, &rl), ESRCH);
    OK(getrlimit(RLIMIT_STACK, &rl));
    CHECK(rl.rlim_cur > 0);
    return 0;
}

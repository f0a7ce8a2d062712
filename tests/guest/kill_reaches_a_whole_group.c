/* kill(0) and kill(-pgid) signal every member, the sender before it returns. */
#include "proc.h"

static int
member(int out)
{
    sigset_t none = set_of(0);

    mask(SIG_BLOCK, SIGUSR1);
    handle(SIGUSR1, note, 0);
    say(out, 'r');
    CHECK_ERR(sigsuspend(&none), EINTR);
    CHECK_EQ(caught[SIGUSR1], 1);
    return 4;
}

static int
leader(void)
{
    pid_t pids[3];
    int p[2], i;

    OK(setpgid(0, 0));
    handle(SIGUSR1, note, SA_RESTART);
    report_pipe(p);
    for (i = 0; i < 3; i++)
        pids[i] = SPAWN("member", num(p[1]));
    for (i = 0; i < 3; i++)
        CHECK_EQ(hear(p[0]), 'r');
    OK(kill(0, SIGUSR1));
    CHECK_EQ(caught[SIGUSR1], 1);
    for (i = 0; i < 3; i++)
        CHECK_EQ(wait_exit(pids[i]), 4);
    OK(killpg(getpgrp(), SIGUSR1));
    CHECK_EQ(caught[SIGUSR1], 2);
    OK(kill(-getpgrp(), SIGKILL));
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "member") == 0)
        return member(atoi(argv[2]));
    if (argc > 1)
        return leader();
    handle(SIGUSR1, note, 0);
    CHECK_EQ(wait_killed(SPAWN("leader")), SIGKILL);
    CHECK_EQ(caught[SIGUSR1], 0); /* we are in another group */
    return 0;
}

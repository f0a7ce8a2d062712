/* PR_SET_PDEATHSIG: the chosen signal arrives when the parent ends. */
#include "proc.h"

static int out;

static void
report(int sig, siginfo_t *si, void *ctx)
{
    (void)ctx;
    say(out, sig == SIGUSR1 && si->si_pid > 0 ? 'd' : '?');
}

int
main(int argc, char **argv)
{
    int p[2], sig = -1;
    pid_t pid;

    if (argc > 1 && strcmp(argv[1], "middle") == 0) {
        report_pipe(p);
        SPAWN("leaf", argv[2], num(p[1]));
        return hear(p[0]) == 'r' ? 0 : 1;
    }
    if (argc > 1) {
        out = atoi(argv[2]);
        handle_info(SIGUSR1, report, 0);
        mask(SIG_BLOCK, SIGUSR1);
        OK(prctl(PR_SET_PDEATHSIG, SIGUSR1));
        OK(prctl(PR_GET_PDEATHSIG, &sig));
        CHECK_EQ(sig, SIGUSR1);
        say(atoi(argv[3]), 'r');
        sigset_t none = set_of(0);
        CHECK_ERR(sigsuspend(&none), EINTR);
        return 0;
    }
    CHECK_ERR(prctl(PR_SET_PDEATHSIG, 65), EINVAL);
    report_pipe(p);
    pid = SPAWN("middle", num(p[1]));
    OK(close(p[1]));
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_EQ(hear(p[0]), 'd');
    CHECK_EQ(hear(p[0]), -1);
    return 0;
}

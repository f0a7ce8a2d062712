/* A handler may leave by siglongjmp; sigsetjmp(1) brings the mask back. */
#include "proc.h"

#include <setjmp.h>

static sigjmp_buf env;

static void
leave(int sig)
{
    caught[sig]++;
    siglongjmp(env, sig);
}

int
main(void)
{
    struct itimerval once = {{0, 0}, {0, 10000}};
    volatile int round;
    int p[2];
    char c;

    OK(pipe(p));
    handle(SIGALRM, leave, SA_RESTART);
    for (round = 1; round <= 3; round++) {
        int sig = sigsetjmp(env, 1);

        if (sig == 0) {
            OK(setitimer(ITIMER_REAL, &once, NULL));
            CHECK_EQ(read(p[0], &c, 1), -2); /* never returns */
        }
        CHECK_EQ(sig, SIGALRM);
        CHECK_EQ(caught[SIGALRM], round);
        CHECK(!is_blocked(SIGALRM));
    }
    handle(SIGUSR1, leave, 0);
    if (sigsetjmp(env, 0) == 0)
        raise(SIGUSR1);
    CHECK(is_blocked(SIGUSR1)); /* not saved: still as in the handler */
    return 0;
}

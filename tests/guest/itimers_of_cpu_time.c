/* ITIMER_VIRTUAL and ITIMER_PROF count work, not waiting. */
#include "proc.h"

static void
burn_until(int sig)
{
    double end = now_s() + 15;

    while (!caught[sig]) {
        CHECK(now_s() < end);
        getppid();
        for (volatile int i = 0; i < 1000; i++)
            ;
    }
}

int
main(void)
{
    struct itimerval it = {{0, 0}, {0, 50000}};

    handle(SIGVTALRM, note, 0);
    handle(SIGPROF, note, 0);
    OK(setitimer(ITIMER_PROF, &it, NULL));
    sleep_ms(150);
    CHECK_EQ(caught[SIGPROF], 0);
    burn_until(SIGPROF);
    OK(setitimer(ITIMER_VIRTUAL, &it, NULL));
    burn_until(SIGVTALRM);
    return 0;
}

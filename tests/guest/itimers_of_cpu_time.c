/* ITIMER_VIRTUAL and ITIMER_PROF count work, not waiting. */
#include "proc.h"

static void
burn_until(int sig)
{
    double end = now_s() + 60;

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
    struct itimerval it = {{0, 0}, {0, 50000}}, far = {{0, 0}, {100, 0}}, left;

    handle(SIGVTALRM, note, 0);
    handle(SIGPROF, note, 0);
    double start = now_s();
    OK(setitimer(ITIMER_PROF, &far, NULL));
    sleep_ms(300);
    OK(getitimer(ITIMER_PROF, &left));
    CHECK(99.9 - left.it_value.tv_sec - left.it_value.tv_usec / 1e6 <=
          now_s() - start - 0.3); /* by a tenth: it may count in ticks */
    OK(setitimer(ITIMER_PROF, &it, NULL));
    burn_until(SIGPROF);
    OK(setitimer(ITIMER_VIRTUAL, &it, NULL));
    burn_until(SIGVTALRM);
    return 0;
}

/* timer_create's timers and their pending signals do not survive exec. */
#include "proc.h"

int
main(int argc, char **argv)
{
    struct itimerspec its = {{0, 20000000}, {0, 20000000}};
    struct timespec ts = {0, 100000000};
    sigset_t set = set_of(SIGALRM);
    timer_t t;

    (void)argv;
    if (argc > 1) {
        CHECK_ERR(sigtimedwait(&set, NULL, &ts), EAGAIN);
        return 0;
    }
    mask(SIG_BLOCK, SIGALRM);
    OK(timer_create(CLOCK_MONOTONIC, NULL, &t));
    OK(timer_settime(t, 0, &its, NULL));
    while (!is_pending(SIGALRM))
        sleep_ms(1);
    OK(execl("/proc/self/exe", "x", "again", NULL));
    return 1;
}

/* post: fork */
/* The child has no pending signals, alarm or CPU time, but the mask. */
#include "proc.h"

#include <sys/times.h>

int
main(void)
{
    struct itimerval it;
    struct sigaction sa;
    struct timespec ts;
    double start;
    pid_t pid;

    handle(SIGUSR1, note, 0);
    mask(SIG_BLOCK, SIGUSR1);
    OK(raise(SIGUSR1));
    alarm(1000);
    do
        OK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts));
    while (ts.tv_sec == 0 && ts.tv_nsec < 100000000);
    start = now_s();
    pid = OK(fork());
    if (pid == 0) {
        CHECK(!is_pending(SIGUSR1));
        CHECK(is_blocked(SIGUSR1));
        OK(sigaction(SIGUSR1, NULL, &sa));
        CHECK(sa.sa_handler == note);
        OK(getitimer(ITIMER_REAL, &it));
        CHECK(it.it_value.tv_sec == 0 && it.it_value.tv_usec == 0);
        OK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts));
        CHECK((double)ts.tv_sec + (double)ts.tv_nsec / 1e9 <= now_s() - start);
        CHECK_ERR(wait(NULL), ECHILD);
        OK(raise(SIGUSR1));
        mask(SIG_UNBLOCK, SIGUSR1);
        _exit(caught[SIGUSR1] == 1 ? 0 : 1);
    }
    CHECK_EQ(wait_exit(pid), 0);
    CHECK(is_pending(SIGUSR1));
    CHECK(alarm(0) > 900);
    return 0;
}

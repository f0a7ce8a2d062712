/* Realtime signals queue: every instance, lowest number first, in order. */
#include "proc.h"

static int order[16], values[16];
static volatile sig_atomic_t n;

static void
keep(int sig, siginfo_t *si, void *ctx)
{
    (void)ctx;
    order[n] = sig - SIGRTMIN;
    values[n++] = si->si_value.sival_int;
}

int
main(void)
{
    static const int send[][2] = {{3, 0}, {1, 1}, {3, 2},
                                  {2, 3}, {1, 4}, {3, 5}};
    static const int want[][2] = {{1, 1}, {1, 4}, {2, 3},
                                  {3, 0}, {3, 2}, {3, 5}};
    struct sigaction sa = {.sa_flags = SA_SIGINFO};
    union sigval v;
    sigset_t all;
    int i;

    sa.sa_sigaction = keep;
    sigfillset(&sa.sa_mask); /* one handler at a time */
    sigfillset(&all);
    OK(sigprocmask(SIG_BLOCK, &all, NULL));
    for (i = 1; i <= 3; i++)
        OK(sigaction(SIGRTMIN + i, &sa, NULL));
    for (i = 0; i < 6; i++) {
        v.sival_int = send[i][1];
        OK(sigqueue(getpid(), SIGRTMIN + send[i][0], v));
    }
    OK(sigprocmask(SIG_UNBLOCK, &all, NULL));
    CHECK_EQ(n, 6);
    for (i = 0; i < 6; i++) {
        CHECK_EQ(order[i], want[i][0]);
        CHECK_EQ(values[i], want[i][1]);
    }
    return 0;
}

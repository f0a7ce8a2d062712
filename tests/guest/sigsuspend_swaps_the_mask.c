/* sigsuspend waits with another mask, returns EINTR, and restores the old. */
#include "proc.h"

static void
look(int sig)
{
    caught[sig]++;
    CHECK(is_blocked(SIGUSR2)); /* the mask given to sigsuspend */
    CHECK(is_blocked(sig));     /* and its own signal */
}

int
main(void)
{
    sigset_t set = set_of(SIGUSR2);

    handle(SIGUSR1, look, SA_RESTART);
    mask(SIG_BLOCK, SIGUSR1);
    OK(raise(SIGUSR1));
    CHECK_EQ(caught[SIGUSR1], 0);
    CHECK_ERR(sigsuspend(&set), EINTR); /* never restarted */
    CHECK_EQ(caught[SIGUSR1], 1);
    CHECK(is_blocked(SIGUSR1) && !is_blocked(SIGUSR2));

    handle(SIGALRM, note, 0);
    tick(10);
    set = set_of(0);
    CHECK_ERR(sigsuspend(&set), EINTR);
    tick(0);
    CHECK(caught[SIGALRM] >= 1);
    CHECK(is_blocked(SIGUSR1));
    return 0;
}

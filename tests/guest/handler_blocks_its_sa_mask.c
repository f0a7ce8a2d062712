/* sa_mask adds to the mask while the handler runs; then the old one is back. */
#include "proc.h"

static void
outer(int sig)
{
    CHECK(is_blocked(sig) && is_blocked(SIGUSR2) && is_blocked(SIGHUP));
    CHECK(!is_blocked(SIGTERM));
    OK(raise(SIGUSR2));
    CHECK_EQ(caught[SIGUSR2], 0); /* waits until we return */
    mask(SIG_BLOCK, SIGTERM);     /* undone by the return */
    caught[sig]++;
}

int
main(void)
{
    struct sigaction sa = {.sa_handler = outer}, old;

    sa.sa_mask = set_of(SIGUSR2);
    OK(sigaction(SIGUSR1, &sa, NULL));
    OK(sigaction(SIGUSR1, NULL, &old));
    CHECK(old.sa_handler == outer);
    CHECK(sigismember(&old.sa_mask, SIGUSR2) == 1);
    CHECK(sigismember(&old.sa_mask, SIGUSR1) == 0);
    handle(SIGUSR2, note, 0);
    mask(SIG_BLOCK, SIGHUP);
    OK(raise(SIGUSR1));
    CHECK_EQ(caught[SIGUSR1], 1);
    CHECK_EQ(caught[SIGUSR2], 1);
    CHECK(is_blocked(SIGHUP) && !is_blocked(SIGTERM));
    CHECK(!is_blocked(SIGUSR1) && !is_blocked(SIGUSR2));
    return 0;
}

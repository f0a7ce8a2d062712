/* Ignored signals vanish when sent, and setting SIG_IGN drops pending ones. */
#include "proc.h"

int
main(void)
{
    handle(SIGUSR1, SIG_IGN, 0);
    OK(raise(SIGUSR1));
    handle(SIGUSR1, note, 0);
    CHECK_EQ(caught[SIGUSR1], 0);

    mask(SIG_BLOCK, SIGUSR1);
    OK(raise(SIGUSR1));
    handle(SIGUSR1, SIG_IGN, 0);
    CHECK(!is_pending(SIGUSR1));
    OK(raise(SIGUSR1));
    CHECK(is_pending(SIGUSR1)); /* blocked: kept even though ignored */
    handle(SIGUSR1, note, 0);   /* a handler set in time will see it */
    mask(SIG_UNBLOCK, SIGUSR1);
    CHECK_EQ(caught[SIGUSR1], 1);

    mask(SIG_BLOCK, SIGCHLD);
    OK(raise(SIGCHLD));
    handle(SIGCHLD, SIG_DFL, 0); /* whose default is to ignore */
    CHECK(!is_pending(SIGCHLD));
    return 0;
}

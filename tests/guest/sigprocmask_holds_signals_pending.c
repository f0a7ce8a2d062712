/* Blocked signals are pending, and delivered before the unblock returns. */
#include "proc.h"

int
main(void)
{
    sigset_t set, old;

    handle(SIGUSR1, note, 0);
    sigfillset(&set);
    OK(sigprocmask(SIG_SETMASK, &set, &old));
    CHECK(!sigismember(&old, SIGUSR1));
    CHECK(!is_blocked(SIGKILL) && !is_blocked(SIGSTOP));
    CHECK(is_blocked(SIGTERM) && is_blocked(SIGRTMAX));
    OK(kill(getpid(), SIGUSR1));
    OK(kill(getpid(), SIGUSR1));
    CHECK(is_pending(SIGUSR1) && !is_pending(SIGUSR2));
    CHECK_EQ(caught[SIGUSR1], 0);
    mask(SIG_UNBLOCK, SIGUSR2);
    CHECK_EQ(caught[SIGUSR1], 0);
    mask(SIG_UNBLOCK, SIGUSR1);
    CHECK_EQ(caught[SIGUSR1], 1); /* standard signals coalesce */
    CHECK(!is_pending(SIGUSR1));
    OK(sigprocmask(SIG_SETMASK, &old, NULL));
    CHECK(!is_blocked(SIGTERM));
    CHECK_ERR(sigprocmask(77, &set, NULL), EINVAL);
    OK(sigprocmask(77, NULL, &set)); /* how is looked at only with a set */
    return 0;
}

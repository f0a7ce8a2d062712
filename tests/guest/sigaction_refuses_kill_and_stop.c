/* SIGKILL and SIGSTOP cannot be handled; unknown numbers are EINVAL. */
#include "proc.h"

int
main(void)
{
    struct sigaction sa = {.sa_handler = SIG_IGN}, old;

    CHECK_ERR(sigaction(SIGKILL, &sa, NULL), EINVAL);
    CHECK_ERR(sigaction(SIGSTOP, &sa, NULL), EINVAL);
    CHECK_ERR(sigaction(0, &sa, NULL), EINVAL);
    CHECK_ERR(sigaction(65, &sa, NULL), EINVAL);
    CHECK_ERR(sigaction(-1, NULL, &old), EINVAL);
    CHECK(signal(SIGKILL, SIG_IGN) == SIG_ERR);
    OK(sigaction(SIGKILL, NULL, &old)); /* reading is allowed */
    CHECK(old.sa_handler == SIG_DFL);
    handle(SIGRTMAX, note, SA_RESTART);
    OK(sigaction(SIGRTMAX, &sa, &old));
    CHECK(old.sa_handler == note);
    CHECK((old.sa_flags & SA_RESTART) != 0);
    OK(raise(SIGRTMAX));
    CHECK_EQ(caught[SIGRTMAX], 0);
    CHECK(signal(SIGRTMAX, SIG_DFL) == SIG_IGN);
    return 0;
}

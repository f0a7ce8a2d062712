/* A stop signal drops a pending SIGCONT and the other way round. */
#include "proc.h"

int
main(void)
{
    mask(SIG_BLOCK, SIGTSTP);
    mask(SIG_BLOCK, SIGTTIN);
    mask(SIG_BLOCK, SIGCONT);
    handle(SIGCONT, note, 0);
    OK(raise(SIGTSTP));
    OK(raise(SIGTTIN));
    CHECK(is_pending(SIGTSTP) && is_pending(SIGTTIN));
    OK(raise(SIGCONT));
    CHECK(!is_pending(SIGTSTP) && !is_pending(SIGTTIN));
    CHECK(is_pending(SIGCONT));
    OK(raise(SIGTTIN));
    CHECK(!is_pending(SIGCONT));
    CHECK(is_pending(SIGTTIN));
    handle(SIGTTIN, SIG_IGN, 0); /* ignoring discards */
    CHECK(!is_pending(SIGTTIN));
    CHECK_EQ(caught[SIGCONT], 0);
    return 0;
}

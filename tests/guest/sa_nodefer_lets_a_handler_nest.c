/* A signal is blocked in its own handler, unless SA_NODEFER says otherwise. */
#include "proc.h"

static volatile sig_atomic_t depth, deepest, nest;

static void
again(int sig)
{
    depth++;
    if (depth > deepest)
        deepest = depth;
    caught[sig]++;
    if (caught[sig] < 4) {
        CHECK_EQ(is_blocked(sig), !nest);
        OK(raise(sig));
        CHECK_EQ(is_pending(sig), !nest);
    }
    depth--;
}

int
main(void)
{
    handle(SIGUSR1, again, 0);
    OK(raise(SIGUSR1));
    CHECK_EQ(caught[SIGUSR1], 4); /* one after the other */
    CHECK_EQ(deepest, 1);
    CHECK(!is_blocked(SIGUSR1));

    nest = 1;
    deepest = 0;
    handle(SIGUSR2, again, SA_NODEFER);
    OK(raise(SIGUSR2));
    CHECK_EQ(caught[SIGUSR2], 4); /* one inside the other */
    CHECK_EQ(deepest, 4);
    return 0;
}

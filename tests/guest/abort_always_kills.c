/* abort ends the process with SIGABRT even if ignored, blocked or handled. */
#include "proc.h"

int
main(int argc, char **argv)
{
    struct rlimit none = {0, 0};

    if (argc > 1) {
        if (strcmp(argv[1], "ignored") == 0)
            handle(SIGABRT, SIG_IGN, 0);
        if (strcmp(argv[1], "blocked") == 0)
            mask(SIG_BLOCK, SIGABRT);
        if (strcmp(argv[1], "handled") == 0)
            handle(SIGABRT, note, 0);
        abort();
    }
    OK(setrlimit(RLIMIT_CORE, &none));
    CHECK_EQ(wait_killed(SPAWN("plain")), SIGABRT);
    CHECK_EQ(wait_killed(SPAWN("ignored")), SIGABRT);
    CHECK_EQ(wait_killed(SPAWN("blocked")), SIGABRT);
    CHECK_EQ(wait_killed(SPAWN("handled")), SIGABRT);
    return 0;
}

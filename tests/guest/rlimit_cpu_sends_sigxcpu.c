/* RLIMIT_CPU: SIGXCPU at the soft limit, also to a loop without calls. */
#include "proc.h"

static volatile unsigned spin;

int
main(int argc, char **argv)
{
    struct rlimit rl = {1, 5}, none = {0, 0};
    struct rusage ru;
    pid_t pid;
    int st;

    (void)argv;
    if (argc > 1) {
        OK(setrlimit(RLIMIT_CPU, &rl));
        for (;;)
            spin++;
    }
    OK(setrlimit(RLIMIT_CORE, &none));
    pid = SPAWN("x");
    CHECK_EQ(OK(wait4(pid, &st, 0, &ru)), pid);
    CHECK(WIFSIGNALED(st) && WTERMSIG(st) == SIGXCPU);
    CHECK(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec <= 3);
    return 0;
}

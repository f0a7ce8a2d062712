/* post: fork */
/* Fifty children at once, each with its own status; all are reaped. */
#include "proc.h"

#define COUNT 50

int
main(void)
{
    pid_t pids[COUNT];
    int go[2], i, st, seen[COUNT] = {0};
    pid_t pid;

    OK(pipe(go));
    for (i = 0; i < COUNT; i++) {
        pids[i] = OK(fork());
        if (pids[i] == 0) {
            OK(close(go[1]));
            CHECK_EQ(hear(go[0]), -1); /* all start when the pipe closes */
            _exit(i);
        }
    }
    OK(close(go[1]));
    for (i = 0; i < COUNT; i++) {
        pid = OK(wait(&st));
        CHECK(WIFEXITED(st) && WEXITSTATUS(st) < COUNT);
        CHECK_EQ(pids[WEXITSTATUS(st)], pid);
        CHECK_EQ(seen[WEXITSTATUS(st)]++, 0);
    }
    CHECK_ERR(wait(&st), ECHILD);
    return 0;
}

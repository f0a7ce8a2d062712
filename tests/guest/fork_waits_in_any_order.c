/* post: fork */
/* Children are waited for by pid in an order that is not that of their end. */
#include "proc.h"

int
main(void)
{
    pid_t pids[3];
    int go[3][2], i, st;

    for (i = 0; i < 3; i++) {
        OK(pipe(go[i]));
        pids[i] = OK(fork());
        if (pids[i] == 0)
            _exit(hear(go[i][0]));
    }
    say(go[1][1], 11); /* ends first */
    CHECK_EQ(OK(wait(&st)), pids[1]);
    CHECK_EQ(WEXITSTATUS(st), 11);
    say(go[2][1], 12);
    wait_state(pids[2], 'Z');
    say(go[0][1], 10);
    CHECK_EQ(wait_exit(pids[0]), 10); /* though another ended before */
    CHECK_EQ(wait_exit(pids[2]), 12);
    return 0;
}

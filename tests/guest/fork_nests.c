/* post: fork */
/* Children fork children: each level adds its own to the exit status. */
#include "proc.h"

static int
level(int depth)
{
    int here = depth * 2;
    pid_t pid;

    if (depth == 0)
        return 1;
    pid = OK(fork());
    if (pid == 0)
        _exit(level(depth - 1));
    return here + wait_exit(pid);
}

int
main(void)
{
    CHECK_EQ(level(5), 10 + 8 + 6 + 4 + 2 + 1);
    CHECK_ERR(wait(NULL), ECHILD);
    return 0;
}

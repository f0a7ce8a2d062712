/* post: fork */
/* A jump target set before fork works in parent and child afterwards. */
#include "proc.h"

#include <setjmp.h>

static jmp_buf top;

static void
deep(int n, pid_t *pid)
{
    if (n > 0) {
        deep(n - 1, pid);
        return;
    }
    *pid = OK(fork());
    if (*pid >= 0)
        longjmp(top, *pid == 0 ? 1 : 2);
}

int
main(void)
{
    static pid_t pid;
    volatile int before = 41;
    int r = setjmp(top);

    if (r == 0)
        deep(20, &pid);
    CHECK_EQ(before, 41);
    if (r == 1) {
        int again = setjmp(top); /* and a new one in the child */

        if (again < 3)
            longjmp(top, again + 1);
        _exit(again == 3 ? 9 : 1);
    }
    CHECK_EQ(r, 2);
    CHECK_EQ(wait_exit(pid), 9);
    return 0;
}

/* The parent of vfork goes on when the child has left, and sees its writes. */
#include "proc.h"

int
main(void)
{
    volatile int seen = 0;
    volatile pid_t child = 0;
    volatile pid_t parent = getpid();
    pid_t pid;

    pid = OK(vfork());
    if (pid == 0) {
        seen = 1;
        child = getpid();
        if (getppid() != parent || child == parent)
            _exit(1);
        _exit(7);
    }
    CHECK_EQ(seen, 1);
    CHECK_EQ(child, pid);
    CHECK_EQ(getpid(), parent);
    CHECK_EQ(wait_exit(pid), 7);
    return 0;
}

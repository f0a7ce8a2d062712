/* After a failed exec the vfork child goes on, and its errno is usable. */
#include "proc.h"

int
main(void)
{
    char *args[] = {"x", NULL};
    volatile int err = 0;
    pid_t pid;
    volatile int i;

    for (i = 0; i < 20; i++) {
        err = 0;
        pid = OK(vfork());
        if (pid == 0) {
            execve("/no/such/program", args, environ);
            err = errno;
            _exit(100 + err);
        }
        CHECK_EQ(err, ENOENT);
        CHECK_EQ(wait_exit(pid), 100 + ENOENT);
    }
    CHECK_ERR(wait(NULL), ECHILD);
    return 0;
}

/* kill: ESRCH, EINVAL, EPERM, signal 0, and the order of the checks. */
#include "proc.h"

int
main(int argc, char **argv)
{
    union sigval v = {0};
    pid_t root = getpid(), pid;

    (void)argv;
    if (argc > 1)
        return 0;
    pid = SPAWN("x");
    CHECK_EQ(wait_exit(pid), 0);
    CHECK_ERR(kill(pid, SIGTERM), ESRCH);
    CHECK_ERR(kill(pid, 0), ESRCH);
    CHECK_ERR(kill(-pid, SIGTERM), ESRCH);
    CHECK_ERR(kill(getpid(), -1), EINVAL);
    CHECK_ERR(kill(getpid(), 65), EINVAL);
    CHECK_ERR(kill(pid, 65), ESRCH); /* the process is looked for first */
    OK(kill(getpid(), 0));
    OK(kill(0, 0));
    CHECK_ERR(sigqueue(pid, SIGTERM, v), ESRCH);
    CHECK_ERR(sigqueue(getpid(), 65, v), EINVAL);
    CHECK_ERR(killpg(-2, SIGTERM), EINVAL);
    CHECK_ERR(kill((pid_t)(-2147483647 - 1), 0), ESRCH);
    if (geteuid() == 0) {
        pid = OK(vfork());
        if (pid == 0) {
            as_user();
            _exit(kill(root, 0) == -1 && errno == EPERM ? 0 : 1);
        }
        CHECK_EQ(wait_exit(pid), 0);
    }
    return 0;
}

/* nice and setpriority lower the priority; raising it again needs root. */
#include "proc.h"

int
main(int argc, char **argv)
{
    int start;

    if (argc > 1)
        return getpriority(PRIO_PROCESS, 0) == atoi(argv[1]) ? 0 : 1;
    as_user();
    errno = 0;
    start = getpriority(PRIO_PROCESS, 0);
    CHECK_EQ(errno, 0);
    CHECK(start >= -20 && start < 15);
    errno = 0;
    CHECK_EQ(nice(2), start + 2);
    CHECK_EQ(errno, 0);
    OK(setpriority(PRIO_PROCESS, getpid(), start + 4));
    CHECK_EQ(getpriority(PRIO_PROCESS, getpid()), start + 4);
    CHECK_EQ(wait_exit(SPAWN(num(start + 4))), 0); /* inherited */
    CHECK_ERR(setpriority(PRIO_PROCESS, 0, start - 1), EACCES);
    CHECK_ERR(setpriority(99, 0, 0), EINVAL);
    CHECK_ERR(getpriority(PRIO_PROCESS, 0x3ffffff), ESRCH);
    OK(setpriority(PRIO_PROCESS, 0, 100)); /* clamped */
    CHECK_EQ(getpriority(PRIO_PROCESS, 0), 19);
    return 0;
}

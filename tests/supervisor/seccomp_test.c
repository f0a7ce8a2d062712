/* Conditions on arguments in filters of system calls. */
#include "../unit/test.h"

#include "seal/rows.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct seccomp_rule rules[] = {
    ALLOW(exit_group, "")                       /* the test ends */
    ALLOW_IF(getpriority, 1, UINT32_MAX, 0, "") /* zero */
    REFUSE_ANY(getpgid, 0, UINT32_MAX, "")      /* any but zero */
    ALLOW(getpgid, "")                          /* zero */
};
static const struct seccomp_policy policy = POLICY(rules, EPERM);

static bool
fails(long result)
{
    return result < 0 && errno == EPERM;
}

/* Returns the number of the first wrong result, or 0. */
static int
check_filter(void)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || seccomp_load(&policy) < 0)
        return 1;
    if (fails(syscall(SYS_getpriority, PRIO_PROCESS, 0)))
        return 2;
    if (!fails(syscall(SYS_getpriority, PRIO_PROCESS, 1)))
        return 3;
    if (fails(syscall(SYS_getpgid, 0)))
        return 4;
    return fails(syscall(SYS_getpgid, 1)) ? 0 : 5;
}

TEST(a_condition_compares_with_zero_or_accepts_any_other_value)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        syscall(SYS_exit_group, check_filter());
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
}

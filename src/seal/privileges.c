/* Capabilities and limits that a process gives up for good. */
#include "seal/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CAPS_MAX = 64 };

/* NOROOT, locked, keeps exec by user 0 from gaining capabilities. Dropping the
 * bounding set covers files with capabilities. EINVAL ends the list of
 * capabilities that this kernel has. */
int
privileges_bound(void)
{
    if (prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0,
              0) < 0)
        return -errno;
    for (int i = 0; i < CAPS_MAX; i++)
        if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0 && errno != EINVAL)
            return -errno;
    return 0;
}

int
privileges_drop(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};

    if (syscall(SYS_capset, &head, none) < 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    return 0;
}

/* Failures are ignored: lowering needs no privilege, and the limits are a
 * second barrier only. */
void
privileges_lower_rlimit(int what, uint64_t value)
{
    struct rlimit limit;

    if (getrlimit((__rlimit_resource_t)what, &limit) < 0)
        return;
    if (limit.rlim_max > value)
        limit.rlim_max = value;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    (void)setrlimit((__rlimit_resource_t)what, &limit);
}

/* The system calls of a sealed worker, as a policy. */
#include "seal/calls.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* As pthread_create gives them. */
#define THREAD_FLAGS                                                    \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | \
     CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |               \
     CLONE_CHILD_CLEARTID)
#define PAGEMAP_SCAN_CALL _IOC(_IOC_READ | _IOC_WRITE, 'f', 16, 96)

#define ROW(name, what, n, bits, equal) \
    {                                   \
        .nr = SYS_##name,               \
        .answer = (what),               \
        .arg = (n),                     \
        .mask = (bits),                 \
        .value = (equal),               \
    },
#define ALLOW(name, why) ROW(name, SECCOMP_RET_ALLOW, 0, 0, 0)
#define ALLOW_IF(name, arg, mask, value, why) \
    ROW(name, SECCOMP_RET_ALLOW, arg, mask, value)
#define REFUSE_ANY(name, arg, mask, why) \
    ROW(name, SECCOMP_FAIL(EPERM), arg, mask, 0)
#define ANSWER(name, error, why) ROW(name, SECCOMP_FAIL(error), 0, 0, 0)

static const struct seccomp_rule rules[] = {
#include "seal/calls.def"
};
const struct seccomp_policy sealed_calls = {rules, sizeof rules / sizeof *rules,
                                            SECCOMP_FAIL(EPERM)};

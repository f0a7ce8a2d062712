/* The system calls of sealed processes, as policies. */
#include "seal/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* As pthread_create gives them. */
#define THREAD_FLAGS                                                    \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | \
     CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |               \
     CLONE_CHILD_CLEARTID)
/* As fork does. */
#define FORK_FLAGS        (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)
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
#define REFUSE_IF(name, arg, mask, value, why) \
    ROW(name, SECCOMP_FAIL(EPERM), arg, mask, value)
#define REFUSE_ANY(name, arg, mask, why) \
    ROW(name, SECCOMP_FAIL(EPERM), arg, mask, 0)
#define ANSWER(name, error, why) ROW(name, SECCOMP_FAIL(error), 0, 0, 0)

static const struct seccomp_rule worker[] = {
#include "seal/calls.def"
};
#define WITH_COMPILER
static const struct seccomp_rule compiling_worker[] = {
#include "seal/calls.def"
};
static const struct seccomp_rule compiler[] = {
#include "seal/compiler_calls.def"
};

#define POLICY(rules)                                               \
    {                                                               \
        rules, sizeof(rules) / sizeof *(rules), SECCOMP_FAIL(EPERM) \
    }
const struct seccomp_policy worker_calls = POLICY(worker);
const struct seccomp_policy compiling_worker_calls = POLICY(compiling_worker);
const struct seccomp_policy compiler_calls = POLICY(compiler);

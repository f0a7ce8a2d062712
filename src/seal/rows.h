/* Turns the rows of a table of system calls into rules; calls.def explains the
 * columns. */
#ifndef SEAL_ROWS_H
#define SEAL_ROWS_H

#include "seal/seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#define ROW(name, what, n, bits, ...) \
    {                                 \
        .nr = SYS_##name,             \
        .answer = (what),             \
        .arg = (n),                   \
        .mask = (bits),               \
        __VA_ARGS__,                  \
    },
#define ALLOW(name, why) ROW(name, SECCOMP_RET_ALLOW, 0, 0, .value = 0)
#define ALLOW_IF(name, arg_, bits_, equal_, why) \
    ROW(name, SECCOMP_RET_ALLOW, arg_, bits_, .value = (equal_))
#define REFUSE(name, why) ANSWER(name, EPERM, why)
#define REFUSE_IF(name, arg_, bits_, equal_, why) \
    ROW(name, SECCOMP_FAIL(EPERM), arg_, bits_, .value = (equal_))
#define REFUSE_ANY(name, arg_, bits_, why) \
    ROW(name, SECCOMP_FAIL(EPERM), arg_, bits_, .is_any = true)
#define KILL_ANY(name, arg_, bits_, why) \
    ROW(name, SECCOMP_RET_KILL_PROCESS, arg_, bits_, .is_any = true)
#define ANSWER(name, error, why) \
    ROW(name, SECCOMP_FAIL(error), 0, 0, .value = 0)

/* Defines the policy of a table; all other calls return `error`. */
#define POLICY(rules, error)                                        \
    {                                                               \
        rules, sizeof(rules) / sizeof *(rules), SECCOMP_FAIL(error) \
    }

#endif

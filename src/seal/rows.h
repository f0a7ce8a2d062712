/* Turns the rows of a table of system calls into rules; calls.def explains the
 * columns. */
#ifndef SEAL_ROWS_H
#define SEAL_ROWS_H

#include "seal/seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

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
#define REFUSE(name, why) ANSWER(name, EPERM, why)
#define REFUSE_IF(name, arg, mask, value, why) \
    ROW(name, SECCOMP_FAIL(EPERM), arg, mask, value)
#define REFUSE_ANY(name, arg, mask, why) \
    ROW(name, SECCOMP_FAIL(EPERM), arg, mask, 0)
#define KILL_ANY(name, arg, mask, why) \
    ROW(name, SECCOMP_RET_KILL_PROCESS, arg, mask, 0)
#define ANSWER(name, error, why) ROW(name, SECCOMP_FAIL(error), 0, 0, 0)

/* Defines the policy of a table; all other calls return `error`. */
#define POLICY(rules, error)                                        \
    {                                                               \
        rules, sizeof(rules) / sizeof *(rules), SECCOMP_FAIL(error) \
    }

#endif

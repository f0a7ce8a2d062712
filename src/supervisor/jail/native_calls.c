/* The system calls of native programs in a jail, as a policy. Native programs
 * need far more calls than sealed workers: everything that concerns their own
 * files, memory and processes is allowed. */
#include "supervisor/jail/native_calls.h"

#include "seal/rows.h"

#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif
#ifndef TIOCLINUX
#define TIOCLINUX 0x541c
#endif

#define NEW_NAMESPACES                                           \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | \
     CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

static const struct seccomp_rule native[] = {
#include "supervisor/jail/native_calls.def"
};
const struct seccomp_policy native_calls = POLICY(native, ENOSYS);

/* Memory that belongs to no process: rlimits do not count it. */
static const struct seccomp_rule hidden_memory[] = {
    {.nr = SYS_memfd_create, .answer = SECCOMP_FAIL(EPERM)},
    {.nr = SYS_shmget, .answer = SECCOMP_FAIL(EPERM)},
};
const struct seccomp_policy native_no_hidden_memory = {
    hidden_memory, sizeof hidden_memory / sizeof *hidden_memory,
    SECCOMP_RET_ALLOW};

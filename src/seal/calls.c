/* The system calls of sealed processes, as policies. */
#include "seal/calls.h"

#include "seal/rows.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* The flags of clone that pthread_create uses, and no others: a filter that
 * compares all flags lets threads start, but no processes and no namespaces. */
#define THREAD_FLAGS                                                    \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | \
     CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |               \
     CLONE_CHILD_CLEARTID)
/* The flags of clone that fork uses. */
#define FORK_FLAGS (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)
/* PAGEMAP_SCAN (Linux 6.7) as a number, because older headers do not have
 * it. */
#define PAGEMAP_SCAN_CALL _IOC(_IOC_READ | _IOC_WRITE, 'f', 16, 96)

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

const struct seccomp_policy worker_calls = POLICY(worker, EPERM);
const struct seccomp_policy compiling_worker_calls =
    POLICY(compiling_worker, EPERM);
const struct seccomp_policy compiler_calls = POLICY(compiler, EPERM);

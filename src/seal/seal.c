/* The seal: the steps by which a worker and its compiler give up their
 * privileges.
 *
 * The order matters. Mounts need capabilities, so the root comes first. A
 * change of the user clears the death signal, so that signal is set afterwards.
 * The filter comes last, because it forbids the calls of all other steps.
 * Several steps exclude the same attack, so that an error in one of them is not
 * enough. */
#include "seal/seal.h"

#include "seal/calls.h"
#include "seal/landlock.h"
#include "seal/privileges.h"

#include "base/hfd.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

/* The mount point of the empty root; any folder that exists will do. */
#define STAGE "/tmp"

static const struct {
    int what;
    uint64_t value;
    /* Limits of resources that a sealed process does not need, beside those of
     * its cgroup. */
} rlimits[] = {
    {RLIMIT_CORE, 0},     {RLIMIT_NOFILE, 2048},    {RLIMIT_MEMLOCK, 0},
    {RLIMIT_MSGQUEUE, 0}, {RLIMIT_RTPRIO, 0},       {RLIMIT_NICE, 0},
    {RLIMIT_NPROC, 512},  {RLIMIT_SIGPENDING, 256},
};

/* --- steps, in order; 0 or -errno */

/* CLONE_THREAD does nothing for a process with one thread, and fails with
 * EINVAL for one with several. Another thread would keep its capabilities. */
static int
seal_check_threads(void)
{
    if (!unshare(CLONE_THREAD)) /* does nothing, with one thread only */
        return 0;
    return errno == EINVAL ? -EBUSY : -errno;
}

/* If memory runs out, the host's kernel kills workers before their supervisor,
 * and before their compilers, which end with them. A process that was killed
 * for the memory of its group is therefore always the worker. */
static int
seal_offer_to_oom_killer(void)
{
    CLEANUP(hfd_closep)
    int hfd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    return hfd < 0 ? -errno : hfd_write_all(hfd, "1000", 4);
}

static int
seal_leave_mounts(void)
{
    return unshare(CLONE_NEWNS) < 0 ? -errno : 0;
}

/* The new root is one read-only directory. Stacking both roots on one point
 * with pivot_root(".", ".") needs no directory for the old one, which is then
 * unmounted. */
static int
seal_enter_empty_root(void)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", STAGE, "tmpfs",
              MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
              "size=4k,nr_inodes=2,mode=555") < 0 ||
        chdir(STAGE) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
        umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
        return -errno;
    return 0;
}

static int
seal_lower_rlimits(void)
{
    for (size_t i = 0; i < sizeof rlimits / sizeof *rlimits; i++)
        privileges_lower_rlimit(rlimits[i].what, rlimits[i].value);
    return 0;
}

static int
seal_refuse_growing_files(void)
{
    privileges_lower_rlimit(RLIMIT_FSIZE, 0);
    return 0;
}

/* EINVAL: the user namespace maps no other user, because the supervisor is not
 * root. The process then keeps its parent's user. */
static int
seal_become_user(void)
{
    (void)setgroups(0, NULL);
    if (setresgid(JAIL_UID, JAIL_UID, JAIL_UID) < 0 && errno != EINVAL)
        return -errno;
    if (setresuid(JAIL_UID, JAIL_UID, JAIL_UID) < 0 && errno != EINVAL)
        return -errno;
    return 0;
}

/* A process that is not dumpable cannot be traced or read through /proc by
 * others of the same user. */
static int
seal_stay_with_parent(void)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return -errno;
    return 0;
}

/* A second barrier beside the filter's rule for mprotect, in kernels since 6.3.
 * EINVAL: the kernel does not have it. */
static int
seal_refuse_code(void)
{
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) < 0 &&
        errno != EINVAL)
        return -errno;
    return 0;
}

static int
seal_filter_calls(void)
{
    return seccomp_load(&worker_calls);
}

static int
seal_filter_calls_but_code(void)
{
    return seccomp_load(&compiling_worker_calls);
}

static int
seal_filter_calls_of_compiler(void)
{
    return seccomp_load(&compiler_calls);
}

/* The kinds of sealed processes, as bits of a step's `who`. */
enum { WORKER = 1, COMPILING = 2, COMPILER = 4, MACHINE = 8, ALL = 15 };

static const struct {
    const char *name;
    int (*take)(void);
    unsigned who;
} steps[] = {
    {"threads", seal_check_threads, ALL},
    {"oom_score_adj", seal_offer_to_oom_killer, WORKER | COMPILING | MACHINE},
    {"mounts", seal_leave_mounts, COMPILER},
    {"empty root", seal_enter_empty_root, ALL},
    {"resource limits", seal_lower_rlimits, ALL},
    {"file size", seal_refuse_growing_files, WORKER | COMPILING | MACHINE},
    {"capability bounds", privileges_bound, ALL},
    {"user", seal_become_user, ALL},
    {"capabilities", privileges_drop, ALL},
    {"death signal", seal_stay_with_parent, ALL},
    {"executable memory", seal_refuse_code, WORKER | COMPILING | COMPILER},
    {"Landlock", landlock_nothing, ALL},
    {"seccomp", seal_filter_calls, WORKER},
    {"seccomp", seal_filter_calls_but_code, COMPILING},
    {"seccomp", seal_filter_calls_of_compiler, COMPILER},
};

static int
seal_take_steps(unsigned who, const char **ret_where)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        int r = steps[i].who & who ? steps[i].take() : 0;
        if (r < 0) {
            *ret_where = steps[i].name;
            return r;
        }
    }
    return 0;
}

int
seal(const char **ret_where)
{
    return seal_take_steps(WORKER, ret_where);
}

int
seal_with_compiler(const char **ret_where)
{
    return seal_take_steps(COMPILING, ret_where);
}

int
seal_machine(const struct seccomp_policy *calls, const char **ret_where)
{
    int r = seal_take_steps(MACHINE, ret_where);

    if (r < 0)
        return r;
    *ret_where = "seccomp";
    return seccomp_load(calls);
}

int
seal_compiler(const char **ret_where)
{
    return seal_take_steps(COMPILER, ret_where);
}

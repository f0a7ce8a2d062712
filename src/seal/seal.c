/* The seal: what a worker and its compiler do to themselves when they are up.
 *
 * Order matters: mounts need capabilities; a change of the user clears what
 * was asked for at the parent's death; the filter comes last, as it forbids all
 * of this. */
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

/* Any folder will do. */
#define STAGE "/tmp"

static const struct {
    int what;
    uint64_t value;
} rlimits[] = {
    {RLIMIT_CORE, 0},     {RLIMIT_NOFILE, 1024},    {RLIMIT_MEMLOCK, 0},
    {RLIMIT_MSGQUEUE, 0}, {RLIMIT_RTPRIO, 0},       {RLIMIT_NICE, 0},
    {RLIMIT_NPROC, 512},  {RLIMIT_SIGPENDING, 256},
};

/* --- steps, in order; 0 or -errno */

static int
check_threads(void)
{
    if (!unshare(CLONE_THREAD)) /* does nothing, with one thread only */
        return 0;
    return errno == EINVAL ? -EBUSY : -errno;
}

/* If memory runs out, workers go before their supervisor, and before their
 * compilers, which end with them: who was killed for the memory of its group is
 * the worker, always. */
static int
seal_offer_to_oom_killer(void)
{
    CLEANUP(hfd_closep)
    int hfd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    return hfd < 0 ? -errno : hfd_write_all(hfd, "1000", 4);
}

static int
leave_mounts(void)
{
    return unshare(CLONE_NEWNS) < 0 ? -errno : 0;
}

/* One directory, which cannot be written to; the old root is let go. */
static int
enter_empty_root(void)
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
lower_rlimits(void)
{
    for (size_t i = 0; i < sizeof rlimits / sizeof *rlimits; i++)
        rlimit_lower(rlimits[i].what, rlimits[i].value);
    return 0;
}

static int
refuse_growing_files(void)
{
    rlimit_lower(RLIMIT_FSIZE, 0);
    return 0;
}

/* If it could not get a user of its own, it keeps its parent's. */
static int
become_user(void)
{
    (void)setgroups(0, NULL);
    if (setresgid(JAIL_UID, JAIL_UID, JAIL_UID) < 0 && errno != EINVAL)
        return -errno;
    if (setresuid(JAIL_UID, JAIL_UID, JAIL_UID) < 0 && errno != EINVAL)
        return -errno;
    return 0;
}

static int
stay_with_parent(void)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return -errno;
    return 0;
}

/* A second wall before the filter's, of newer kernels. */
static int
refuse_code(void)
{
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) < 0 &&
        errno != EINVAL)
        return -errno;
    return 0;
}

static int
filter_calls(void)
{
    return seccomp_load(&worker_calls);
}

static int
filter_calls_but_code(void)
{
    return seccomp_load(&compiling_worker_calls);
}

static int
filter_calls_of_compiler(void)
{
    return seccomp_load(&compiler_calls);
}

enum { WORKER = 1, COMPILING = 2, COMPILER = 4, ALL = 7 };

static const struct {
    const char *name;
    int (*take)(void);
    unsigned who;
} steps[] = {
    {"threads", check_threads, ALL},
    {"oom_score_adj", seal_offer_to_oom_killer, WORKER | COMPILING},
    {"mounts", leave_mounts, COMPILER},
    {"empty root", enter_empty_root, ALL},
    {"resource limits", lower_rlimits, ALL},
    {"file size", refuse_growing_files, WORKER | COMPILING},
    {"capability bounds", privileges_bound, ALL},
    {"user", become_user, ALL},
    {"capabilities", privileges_drop, ALL},
    {"death signal", stay_with_parent, ALL},
    {"executable memory", refuse_code, ALL},
    {"Landlock", landlock_nothing, ALL},
    {"seccomp", filter_calls, WORKER},
    {"seccomp", filter_calls_but_code, COMPILING},
    {"seccomp", filter_calls_of_compiler, COMPILER},
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
seal_compiler(const char **ret_where)
{
    return seal_take_steps(COMPILER, ret_where);
}

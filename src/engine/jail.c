/* The jail of the compiler.
 *
 * The compiler is ours, what it reads is not. Should a module take it over, it
 * finds a process that can compute, allocate and write its result: no files, no
 * network, no other processes, no executable pages. It can still write a result
 * that is not what the module says, which its parent will run: against that,
 * only a jail around the parent helps. */
#include "engine/jail.h"

#include "base/hfd.h"
#include "engine/compiler.h"
#include "seal/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* The sanitizers' own memory is terabytes. */
#ifdef __SANITIZE_ADDRESS__
#define MEMORY RLIM_INFINITY
#else
#define MEMORY COMPILER_MEMORY
#endif

static const struct {
    __rlimit_resource_t what;
    rlim_t soft, hard;
} rlimits[] = {
    {RLIMIT_CPU, COMPILER_CPU_S, COMPILER_CPU_S + 1},
    {RLIMIT_AS, MEMORY, MEMORY},
    {RLIMIT_DATA, MEMORY, MEMORY},
    {RLIMIT_FSIZE, COMPILER_CODE_BYTES, COMPILER_CODE_BYTES},
    {RLIMIT_NOFILE, 3, 3},
    {RLIMIT_CORE, 0, 0},
    {RLIMIT_MEMLOCK, 0, 0},
    {RLIMIT_MSGQUEUE, 0, 0},
};

/* If the host runs out of memory, this process goes before its parent. */
static void
jail_offer_to_oom_killer(void)
{
    CLEANUP(hfd_closep)
    int hfd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (hfd >= 0)
        (void)hfd_write_all(hfd, "1000", 4);
}

int
jail_enter(void)
{
    (void)close(COMPILER_EXE_HFD);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    jail_offer_to_oom_killer();
    return 0;
}

int
jail_limit(void)
{
    (void)alarm(COMPILER_WALL_S); /* where it gets no CPU */
    for (size_t i = 0; i < sizeof rlimits / sizeof *rlimits; i++) {
        struct rlimit limit = {rlimits[i].soft, rlimits[i].hard};
        if (setrlimit(rlimits[i].what, &limit) < 0)
            return -errno;
    }
    return 0;
}

/* --- system calls. A panic ends with one that is not here. */

static const struct seccomp_rule jail_rules[] = {
    ALLOW(write, "the code") KILL_ANY(mmap, 2, PROT_EXEC, "no executable pages")
        ALLOW(mmap, "heap") KILL_ANY(mprotect, 2, PROT_EXEC,
                                     "no executable pages")
            ALLOW(mprotect, "heap") ALLOW(munmap, "heap") ALLOW(mremap, "heap")
                ALLOW(madvise, "heap") ALLOW(brk, "heap") ALLOW(futex, "locks")
                    ALLOW(sched_yield, "locks")
                        ALLOW(clock_gettime, "where the vDSO cannot tell")
                            ALLOW(getrandom, "hash tables of the compiler")
                                ALLOW(exit, "the end")
                                    ALLOW(exit_group, "the end")
#ifdef __SANITIZE_ADDRESS__
                                        ALLOW(sigaltstack, "before _exit")
#endif
};

int
jail_filter(void)
{
    static const struct seccomp_policy policy = {
        jail_rules, sizeof jail_rules / sizeof *jail_rules,
        SECCOMP_RET_KILL_PROCESS};

    return seccomp_load(&policy);
}

/* The jail of the compiler.
 *
 * The compiler is ours, what it reads is not. Should a module take it over, it
 * finds a process that can compute, allocate and write its result: no files, no
 * network, no other processes, no executable pages. It can still write a result
 * that is not what the module says, which its parent will run: against that,
 * only a jail around the parent helps. */
#include "engine/engine_impl.h"

#include "base/hfd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

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
offer_to_oom_killer(void)
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
    offer_to_oom_killer();
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

static const int allowed[] = {
    SYS_write,       SYS_munmap, SYS_mremap,        SYS_madvise,
    SYS_brk,         SYS_futex,  SYS_clock_gettime, SYS_getrandom,
    SYS_exit_group,  SYS_exit,   SYS_sched_yield,
#ifdef __SANITIZE_ADDRESS__
    SYS_sigaltstack, /* before _exit */
#endif
};
/* Unless their third argument asks for executable pages. */
static const int allowed_unless_exec[] = {SYS_mmap, SYS_mprotect};

struct filter {
    struct sock_filter v[64];
    unsigned short n;
};

static void
add(struct filter *f, struct sock_filter step)
{
    f->v[f->n++] = step;
}

static void
add_load(struct filter *f, size_t offset)
{
    add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                        (uint32_t)offset));
}

static void
add_answer(struct filter *f, uint32_t answer)
{
    add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

/* Skips the next `n` steps unless what was loaded is `value`. */
static void
add_unless(struct filter *f, uint32_t value, uint8_t n)
{
    add(f,
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, n));
}

static void
build(struct filter *f)
{
    add_load(f, offsetof(struct seccomp_data, arch));
    add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
    add_answer(f, SECCOMP_RET_KILL_PROCESS);
    add_load(f, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        add_unless(f, (uint32_t)allowed[i], 1);
        add_answer(f, SECCOMP_RET_ALLOW);
    }
    for (size_t i = 0;
         i < sizeof allowed_unless_exec / sizeof *allowed_unless_exec; i++) {
        add_unless(f, (uint32_t)allowed_unless_exec[i], 4);
        add_load(f, offsetof(struct seccomp_data, args[2]));
        add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
                                            PROT_EXEC, 1, 0));
        add_answer(f, SECCOMP_RET_ALLOW);
        add_answer(f, SECCOMP_RET_KILL_PROCESS);
    }
    add_answer(f, SECCOMP_RET_KILL_PROCESS);
}

int
jail_filter(void)
{
    struct filter f = {.n = 0};

    build(&f);
    struct sock_fprog program = {f.n, f.v};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0
               ? -errno
               : 0;
}

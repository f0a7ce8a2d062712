/* Attacks on the seal itself: executable memory, and system calls one by one.
 */
#include "sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, CALLS = 600, RWX = PROT_READ | PROT_WRITE | PROT_EXEC };

/* --- new executable pages */

static long
map(size_t prot, size_t flags, int fd)
{
    return syscall(SYS_mmap, NULL, PAGE, prot, flags, fd, 0);
}

static bool
map_executable_memory(const char *arg)
{
    const size_t plain = MAP_PRIVATE | MAP_ANONYMOUS;

    (void)arg;
    return passed("RWX", map(RWX, plain, -1)) |
           passed("RX", map(PROT_READ | PROT_EXEC, plain, -1)) |
           passed("X", map(PROT_EXEC, plain, -1)) |
           passed("X, high bits", map(PROT_EXEC | 1UL << 40, plain, -1)) |
           passed("of a file", map(PROT_READ | PROT_EXEC, MAP_PRIVATE, 3)) |
           passed("huge", map(RWX, plain | MAP_HUGETLB, -1));
}

/* With a compiler, files can be mapped so: it has none that can. */
static bool
map_what_it_has_as_code(const char *arg)
{
    const size_t fixed = MAP_PRIVATE | MAP_FIXED;
    void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool any = false;

    (void)arg;
    for (int fd = 0; fd < 4; fd++)
        any |= worked("RX", syscall(SYS_mmap, p, PAGE, PROT_READ | PROT_EXEC,
                                    fixed, fd, 0)) |
               passed("RWX", syscall(SYS_mmap, p, PAGE, RWX, fixed, fd, 0)) |
               passed("shared", syscall(SYS_mmap, p, PAGE, PROT_EXEC,
                                        MAP_SHARED | MAP_FIXED, fd, 0));
    return any |
           passed("RX of memory",
                  syscall(SYS_mmap, p, PAGE, PROT_READ | PROT_EXEC,
                          fixed | MAP_ANONYMOUS, -1, 0)) |
           passed("RX, then more flags",
                  syscall(SYS_mmap, p, PAGE, PROT_READ | PROT_EXEC,
                          fixed | MAP_NORESERVE, -1, 0));
}

static bool
make_memory_executable(const char *arg)
{
    void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)arg;
    if (p == MAP_FAILED)
        return true;
    return passed("W to RWX", mprotect(p, PAGE, RWX)) |
           passed("W to RX", mprotect(p, PAGE, PROT_READ | PROT_EXEC)) |
           passed("W to X", mprotect(p, PAGE, PROT_EXEC)) |
           passed("pkey_mprotect",
                  syscall(SYS_pkey_mprotect, p, PAGE, RWX, -1)) |
           passed("remap_file_pages",
                  syscall(SYS_remap_file_pages, p, PAGE, 0, 0, 0)) |
           passed("SHM_EXEC", syscall(SYS_shmat, 0, NULL, SHM_EXEC));
}

static bool
map_memory_twice(const char *arg)
{
    (void)arg;
    return worked("memfd", syscall(SYS_memfd_create, "x", 0)) |
           passed("shared",
                  map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1)) |
           passed("shared, validated",
                  map(PROT_READ | PROT_WRITE,
                      MAP_SHARED_VALIDATE | MAP_ANONYMOUS, -1)) |
           passed("userfaultfd", syscall(SYS_userfaultfd, 0));
}

static int
some_code(void)
{
    return 1;
}

/* Its own code can be made writable, but not executable again. */
static bool
change_its_code(const char *arg)
{
    char *page = (char *)((uintptr_t)some_code & ~(uintptr_t)(PAGE - 1));
    char *copy = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)arg;
    memcpy(copy, page, PAGE);
    return passed("RWX", mprotect(page, PAGE, RWX)) |
           passed("mremap of data over code, then X",
                  syscall(SYS_mprotect, copy, PAGE, PROT_READ | PROT_EXEC)) |
           passed("RX", mprotect(page, PAGE, PROT_READ | PROT_EXEC));
}

static bool
have_all_that_is_readable_executable(const char *arg)
{
    (void)arg;
    return passed("personality", syscall(SYS_personality, READ_IMPLIES_EXEC));
}

/* --- around the filter */

static bool
call_x32_system_calls(const char *arg)
{
    bool any = false;

    (void)arg;
#ifdef __x86_64__
    for (long nr = 0; nr < CALLS; nr++) {
        long r = syscall(0x40000000 | nr, -1L, -1L, -1L, -1L, -1L, -1L);
        if (r >= 0 || errno != ENOSYS)
            any = worked("x32", r) | true;
    }
#endif
    return any;
}

/* Ends the process; if not, says so. */
static bool
call_i386_system_calls(const char *arg)
{
    (void)arg;
#ifdef __x86_64__
    int r = 20; /* getpid */
    __asm__ volatile("int $0x80" : "+a"(r) : : "memory");
    say("int 0x80: %d\n", r);
#endif
    return true;
}

static bool
change_the_filter(const char *arg)
{
    (void)arg;
    return passed("seccomp",
                  syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL)) |
           passed("filter",
                  syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL)) |
           passed("prctl",
                  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0)) |
           passed("dispatch", prctl(59, 1, 0, 0, 0)) |
           passed("landlock", syscall(SYS_landlock_restrict_self, 0, 0));
}

static bool
use_other_ways_into_the_kernel(const char *arg)
{
    (void)arg;
    return passed("io_uring_setup", syscall(SYS_io_uring_setup, 1, NULL)) |
           passed("io_uring_enter",
                  syscall(SYS_io_uring_enter, 0, 0, 0, 0, 0, 0)) |
           passed("io_uring_register",
                  syscall(SYS_io_uring_register, 0, 0, 0, 0)) |
           passed("io_setup", syscall(SYS_io_setup, 1, NULL)) |
           passed("bpf", syscall(SYS_bpf, 0, NULL, 0)) |
           passed("perf", syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0)) |
           passed("keyctl", syscall(SYS_keyctl, 0, 0, 0, 0, 0)) |
           passed("add_key", syscall(SYS_add_key, "user", "x", "x", 1, -2)) |
           passed("request_key",
                  syscall(SYS_request_key, "user", "x", NULL, 0)) |
           passed("init_module", syscall(SYS_init_module, NULL, 0, "")) |
           passed("kexec_load", syscall(SYS_kexec_load, 0, 0, NULL, 0)) |
           passed("reboot", syscall(SYS_reboot, 0, 0, 0, NULL)) |
           passed("fanotify", syscall(SYS_fanotify_init, 0, 0)) |
           passed("inotify", syscall(SYS_inotify_init1, 0)) |
           passed("timer_create", syscall(SYS_timer_create, 0, NULL, NULL)) |
#ifdef __x86_64__
           passed("modify_ldt", syscall(SYS_modify_ldt, 0, NULL, 0)) |
           passed("arch_prctl", syscall(SYS_arch_prctl, 0x1001, 0)) |
           passed("iopl", syscall(SYS_iopl, 3)) |
#endif
           passed("clock_settime", syscall(SYS_clock_settime, 0, NULL));
}

/* --- by number */

/* As in src/seal/calls.def: those that some argument makes possible. */
#define ALLOW(name, why)                      SYS_##name,
#define ALLOW_IF(name, arg, mask, value, why) SYS_##name,
#define REFUSE_IF(name, arg, mask, value, why)
#define REFUSE_ANY(name, arg, mask, why)
#define ANSWER(name, error, why)
static const int allowed[] = {
#include "seal/calls.def"
};
#define WITH_COMPILER
static const int allowed_compiling[] = {
#include "seal/calls.def"
};
#undef ALLOW
#undef ALLOW_IF
#undef ANSWER
#define ALLOW(name, why)
#define ALLOW_IF(name, arg, mask, value, why)
#define ANSWER(name, error, why) SYS_##name,
static const int answered_compiling[] = {
#include "seal/calls.def"
};
#undef WITH_COMPILER
static const int answered[] = {
#include "seal/calls.def"
};

static bool
is_in(const int *list, size_t n, long nr)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == nr)
            return true;
    return false;
}
#define COUNT(list) (sizeof(list) / sizeof *(list))
#define IS_IN(list, nr)                                                  \
    (is_compiling ? is_in(list##_compiling, COUNT(list##_compiling), nr) \
                  : is_in(list, COUNT(list), nr))

/* Newer kernels do not ask filters about these two (uretprobe, uprobe), and
 * kill who calls them from anywhere but the page they are for. */
static bool
is_never_filtered(long nr)
{
#ifdef __x86_64__
    return nr == 335 || nr == 336;
#else
    return nr < 0;
#endif
}

static bool
call_each_number(const char *arg)
{
    bool any = false;

    (void)arg;
    for (long nr = 0; nr < CALLS; nr++) {
        if (IS_IN(allowed, nr) || is_never_filtered(nr))
            continue;
        long r = syscall(nr, -1L, -1L, -1L, -1L, -1L, -1L);
        if (r == -1 && errno == (IS_IN(answered, nr) ? ENOSYS : EPERM))
            continue;
        say("%ld: %ld %s\n", nr, r, strerrorname_np(errno));
        any = true;
    }
    return any;
}

/* The calls that depend on their arguments, with all others. */
static bool
give_other_arguments(const char *arg)
{
    void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool any = false;

    (void)arg;
    for (int i = 0; i < 256; i++)
        if (i != MADV_DONTNEED && i != MADV_FREE && i != MADV_REMOVE)
            any |= madvise(p, PAGE, i) == 0 || errno != EPERM;
    any |= worked("madvise", any ? 0 : -1);
    for (unsigned type = 0; type < 256; type++)
        for (unsigned nr = 0; nr < 256; nr++)
            any |= ioctl(0, type << 8 | nr, p) == 0 || errno != EPERM;
    any |= passed("TIOCSTI", ioctl(0, TIOCSTI, "x")) |
           passed("TIOCLINUX", ioctl(0, 0x541c, "x")) |
           passed("FIONREAD", ioctl(0, FIONREAD, p)) |
           passed("TIOCSTI, high bits",
                  syscall(SYS_ioctl, 0, TIOCSTI | 1UL << 40, p));
    for (int i = 0; i < 100000; i++)
        if (i != 1)
            any |= syscall(SYS_tgkill, i, i, 0) == 0 || errno != EPERM;
    return any;
}

const struct attack code_attacks[] = {
#define ATTACK(name) \
    {                \
#name, name  \
    }
    ATTACK(map_executable_memory),
    ATTACK(map_what_it_has_as_code),
    ATTACK(make_memory_executable),
    ATTACK(map_memory_twice),
    ATTACK(change_its_code),
    ATTACK(have_all_that_is_readable_executable),
    {0},
};
const struct attack call_attacks[] = {
    ATTACK(call_x32_system_calls),
    ATTACK(call_i386_system_calls),
    ATTACK(change_the_filter),
    ATTACK(use_other_ways_into_the_kernel),
    ATTACK(call_each_number),
    ATTACK(give_other_arguments),
#undef ATTACK
    {0},
};

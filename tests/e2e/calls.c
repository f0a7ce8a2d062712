/* post: fork */
/* Attacks on the arguments of system calls: addresses at the edges of memory,
 * counts that overflow, privileged calls. */
#include "attack.h"

static uint32_t
memory_end(void)
{
    return (uint32_t)__builtin_wasm_memory_size(0) * 65536u;
}

/* What lies outside memory, in part or altogether. */
static const void *
bad_address(int i)
{
    switch (i) {
    case 0:
        return (void *)(memory_end() - 1);
    case 1:
        return (void *)memory_end();
    case 2:
        return (void *)0xfffffff0u;
    case 3:
        return (void *)0xffffffffu;
    default:
        return (void *)(memory_end() + 0x10000u);
    }
}

enum { BAD_ADDRESSES = 5 };

/* Memory up to its very last byte can be used. */
static void
last_byte(void)
{
    char *end = (char *)(uintptr_t)memory_end();
    int fd = open("/dev/zero", O_RDONLY), p[2];

    CHECK(fd >= 0);
    CHECK(read(fd, end - 16, 16) == 16);
    FAILS(read(fd, end - 16, 17), EFAULT);
    CHECK(read(fd, end - 16, 0) == 0);
    CHECK(pipe(p) == 0);
    FAILS(write(p[1], end - 16, 17), EFAULT);
    CHECK(write(p[1], end - 16, 16) == 16);
    end[-1] = 'x';
    FAILS(open(end - 1, O_RDONLY), EFAULT);
    end[-1] = 0;
    FAILS(open(end - 1, O_RDONLY), ENOENT);
    memcpy(end - 2, ".", 2);
    CHECK(open(end - 2, O_RDONLY) >= 0);
}

/* Every call with a bad address in each of its arguments fails with EFAULT. */
static void
bad_addresses(void)
{
    int zero = open("/dev/zero", O_RDWR), s[2], ep = epoll_create1(0);
    int dir = open("/", O_RDONLY | O_DIRECTORY);

    CHECK(zero >= 0 && ep >= 0 && dir >= 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
    CHECK(write(s[0], "x", 1) == 1);
    ((char *)(uintptr_t)memory_end())[-1] = 'x';
    for (int i = 0; i < BAD_ADDRESSES; i++) {
        void *bad = (void *)bad_address(i);
        struct iovec v = {bad, 100};
        struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
        struct msghdr m2 = {.msg_iov = bad, .msg_iovlen = 1};
#define BAD(...) FAILS(syscall(__VA_ARGS__), EFAULT)
        BAD(SYS_read, zero, bad, 100);
        BAD(SYS_write, zero, bad, 100);
        BAD(SYS_readv, zero, bad, 2);
        BAD(SYS_writev, zero, bad, 2);
        BAD(SYS_readv, zero, &v, 1);
        BAD(SYS_writev, zero, &v, 1);
        BAD(SYS_pipe2, bad, 0);
        BAD(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, bad);
        BAD(SYS_sendmsg, s[0], &m, 0);
        BAD(SYS_sendmsg, s[0], &m2, 0);
        BAD(SYS_sendmsg, s[0], bad, 0);
        BAD(SYS_recvmsg, s[1], bad, 0);
        BAD(SYS_recvmsg, s[1], &m2, 0);
        BAD(SYS_ppoll, bad, 2, NULL, NULL, 0);
        BAD(SYS_ppoll, NULL, 0, bad, NULL, 0);
        BAD(SYS_pselect6, 3, bad, NULL, NULL, NULL, NULL);
        BAD(SYS_epoll_pwait, ep, bad, 10, 0, NULL, 0);
        BAD(SYS_epoll_ctl, ep, EPOLL_CTL_ADD, s[0], bad);
        BAD(SYS_getdents64, dir, bad, 4096);
        BAD(SYS_getcwd, bad, 4096);
        BAD(SYS_uname, bad);
        BAD(SYS_getrandom, bad, 100, 0);
        BAD(SYS_rt_sigaction, SIGUSR1, bad, NULL, 8);
        BAD(SYS_rt_sigprocmask, SIG_BLOCK, bad, NULL, 8);
        BAD(SYS_rt_sigprocmask, SIG_BLOCK, NULL, bad, 8);
        BAD(SYS_rt_sigpending, bad, 8);
        BAD(SYS_rt_sigsuspend, bad, 8);
        BAD(SYS_prlimit64, 0, RLIMIT_NOFILE, bad, NULL);
        BAD(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, bad);
        BAD(SYS_getrusage, RUSAGE_SELF, bad);
        BAD(SYS_sysinfo, bad);
        BAD(SYS_times, bad);
        BAD(SYS_setitimer, ITIMER_REAL, bad, NULL);
        BAD(SYS_execve, bad, NULL, NULL);
        BAD(SYS_execve, "/bin/calls", bad, NULL);
        BAD(SYS_execve, "/bin/calls", NULL, bad);
        BAD(SYS_chdir, bad);
        BAD(SYS_mkdirat, AT_FDCWD, bad, 0700);
        BAD(SYS_unlinkat, AT_FDCWD, bad, 0);
        BAD(SYS_symlinkat, bad, AT_FDCWD, "/tmp/x");
        BAD(SYS_symlinkat, "x", AT_FDCWD, bad);
        BAD(SYS_linkat, AT_FDCWD, bad, AT_FDCWD, "/tmp/x", 0);
        BAD(SYS_renameat2, AT_FDCWD, bad, AT_FDCWD, "/tmp/x", 0);
        BAD(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", bad, 100);
        BAD(SYS_bind, s[0], bad, 16);
        BAD(SYS_connect, s[0], bad, 16);
        BAD(SYS_getsockname, s[0], bad, bad);
        BAD(SYS_sendfile64, s[0], zero, bad, 10);
#undef BAD
        FAILS(ioctl(s[0], FIONREAD, bad), EFAULT);
    }
}

/* Every call with all sorts of words as arguments: it may fail as it likes,
 * but it must come back. The timer ends those that wait. */
static void
on_alarm(int sig)
{
    (void)sig;
}

static bool
is_left_out(long nr)
{
    static const long out[] = {
        SYS_exit,           SYS_exit_group,      SYS_kill,
        SYS_tkill,          SYS_tgkill,          SYS_execve,
        SYS_clone,          SYS_setitimer,       SYS_rt_sigaction,
        SYS_rt_sigprocmask, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
        SYS_rt_sigreturn,   SYS_close,           SYS_close_range,
        SYS_execveat,       SYS_prlimit64,       SYS_rt_sigsuspend,
    };

    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        if (nr == out[i])
            return true;
    return nr >= 1000;
}

static uint32_t seed = 1;

static uint32_t
chance(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

/* Nothing that this program needs lies behind the address of a buffer. */
static long
any_word(void)
{
    char *scratch = (char *)(uintptr_t)(memory_end() - 65536);
    static const char *const paths[] = {
        "/tmp", "/tmp/bomb", "/", "..", "/proc/self/fd/0", "/dev/tty", ""};

    switch (chance(10)) {
    case 0:
        return (long)bad_address((int)chance(BAD_ADDRESSES));
    case 1:
    case 2:
        return (long)(scratch + chance(60000));
    case 3:
        return (long)strcpy(scratch + 64 * chance(100), paths[chance(7)]);
    case 4:
        return -(long)chance(200);
    case 5:
        return (long)(1u << chance(16));
    case 6:
        return (long)(INT_MAX - chance(3));
    default:
        return (long)chance(20);
    }
}

static void
any_arguments(void)
{
    struct sigaction sa = {.sa_handler = on_alarm};
    struct itimerval it = {{0, 1000}, {0, 1000}};

    sigaction(SIGALRM, &sa, NULL);
    CHECK(__builtin_wasm_memory_grow(0, 1) != (size_t)-1);
    for (int i = 0; i < 60000; i++) {
        long nr = (long)chance(460);
        if (is_left_out(nr))
            continue;
        if (i % 64 == 0)
            setitimer(ITIMER_REAL, &it, NULL);
        long a[6];
        for (int j = 0; j < 6; j++)
            a[j] = any_word();
        /* A mask could hold back the timer. */
        if (nr == SYS_ppoll || nr == SYS_pselect6 || nr == SYS_epoll_pwait)
            a[3] = a[4] = a[5] = 0;
        (void)syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
}

/* --- counts */

static void
counts(void)
{
    static struct iovec v[1100];
    static char buf[4096];
    int zero = open("/dev/zero", O_RDWR), null = open("/dev/null", O_WRONLY);
    int dir = open("/", O_RDONLY | O_DIRECTORY), s[2], p[2];
    struct mmsghdr {
        struct msghdr h;
        unsigned len;
    } one = {0};

    CHECK(zero >= 0 && null >= 0 && dir >= 0 && pipe(p) == 0);
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == 0);
    for (int i = 0; i < 1100; i++)
        v[i] = (struct iovec){buf, sizeof buf};
    FAILS(readv(zero, v, 1025), EINVAL);
    FAILS(readv(zero, v, -1), EINVAL);
    FAILS(readv(zero, v, INT_MAX), EINVAL);
    FAILS(writev(null, v, INT_MIN), EINVAL);
    /* A sum beyond what a count can say. */
    for (int i = 0; i < 8; i++)
        v[i] = (struct iovec){buf, 0x40000000};
    errno = 0;
    CHECK(readv(zero, v, 8) < 0 && (errno == EINVAL || errno == EFAULT));
    v[0].iov_len = 0xffffffffu;
    errno = 0;
    CHECK(writev(null, v, 1) < 0 && (errno == EINVAL || errno == EFAULT));
    FAILS(read(zero, buf, 0xffffffffu), EFAULT);
    FAILS(write(null, buf, 0x80000000u), EFAULT);
    FAILS(getrandom(buf, 0x7fffffff, 0), EFAULT);
    FAILS(poll((void *)buf, 0x20000000, 0), EINVAL);
    FAILS(poll((void *)buf, 0xffffffffu, 0), EINVAL);
    FAILS(select(-1, NULL, NULL, NULL, NULL), EINVAL);
    struct timeval none = {0, 0};
    CHECK(select(INT_MAX, NULL, NULL, NULL, &none) == 0);
    (void)syscall(SYS_getdents64, dir, buf, 0xffffffffu);
    (void)syscall(SYS_sendmmsg, s[0], &one, 0xffffffffu, MSG_DONTWAIT);
    (void)syscall(SYS_recvmmsg, s[1], &one, 0xffffffffu, MSG_DONTWAIT, NULL);
    FAILS(epoll_wait(epoll_create1(0), (void *)buf, INT_MAX, 0), EINVAL);
    (void)syscall(SYS_sendfile64, null, zero, NULL, 0xffffffffu);
    (void)syscall(SYS_setgroups, INT_MAX, buf);
    (void)syscall(SYS_getgroups, INT_MAX, buf);
    FAILS(setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, buf, 0), EINVAL);
    FAILS(syscall(SYS_bind, s[0], buf, 0xffffffffu), EINVAL);
    struct msghdr big = {.msg_iov = v, .msg_iovlen = INT_MAX};
    FAILS(sendmsg(s[0], &big, MSG_DONTWAIT), EMSGSIZE);
    struct msghdr control = {.msg_control = buf, .msg_controllen = 0xffffffffu};
    CHECK(sendmsg(s[0], &control, MSG_DONTWAIT) < 0);
    (void)fcntl(p[0], F_SETPIPE_SZ, INT_MAX);
    (void)fcntl(p[0], F_DUPFD, INT_MAX);
    (void)dup2(0, INT_MAX);
    (void)dup2(0, 1 << 20);
}

/* Arguments without an end, and more than can ever be used. */
static void
exec_arguments(void)
{
    enum { COUNT = 100000 };
    static char text[100000];
    char **many = malloc((COUNT + 1) * sizeof *many);
    uint32_t end = memory_end();

    CHECK(many != NULL);
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < COUNT; i++)
        many[i] = text;
    many[COUNT] = NULL;
    FAILS(execve("/bin/calls", many, environ), E2BIG);
    FAILS(execve("/bin/calls", environ, many), E2BIG);
    for (uint32_t *p = (uint32_t *)(uintptr_t)(end - 64);
         p < (uint32_t *)(uintptr_t)end; p++)
        *p = (uint32_t)(uintptr_t) "x";
    FAILS(execve("/bin/calls", (char **)(uintptr_t)(end - 64), environ),
          EFAULT);
    memset((void *)(uintptr_t)(end - 64), 'x', 64);
    many[0] = (char *)(uintptr_t)(end - 64);
    many[1] = NULL;
    FAILS(execve("/bin/calls", many, environ), EFAULT);
}

/* --- privileges */

static void
privileged(void)
{
    static const long refused[] = {
        SYS_ptrace,
        SYS_mount,
        SYS_umount2,
        SYS_reboot,
        SYS_swapon,
        SYS_swapoff,
        SYS_init_module,
        SYS_delete_module,
        SYS_finit_module,
        SYS_kexec_load,
        SYS_acct,
        SYS_pivot_root,
        SYS_unshare,
        SYS_setns,
        SYS_bpf,
        SYS_add_key,
        SYS_keyctl,
        SYS_perf_event_open,
        SYS_userfaultfd,
        SYS_process_vm_readv,
        SYS_process_vm_writev,
        SYS_open_by_handle_at,
        SYS_syslog,
        SYS_chroot,
        SYS_sethostname,
        SYS_setdomainname,
        SYS_quotactl,
        SYS_move_pages,
        SYS_kcmp,
        SYS_seccomp,
        SYS_clone3,
        SYS_pidfd_getfd,
        SYS_io_uring_setup,
    };

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        errno = 0;
        long r = syscall(refused[i], "/tmp", "/tmp", "/tmp", 0, 0, 0);
        int err = errno;
        if (r != -1 || (err != ENOSYS && err != EPERM)) {
            dprintf(2, "call %ld gave %ld, errno %d\n", refused[i], r, err);
            _exit(1);
        }
    }
    FAILS(setuid(0), EPERM);
    FAILS(setgid(0), EPERM);
    FAILS(mknod("/tmp/dev", S_IFCHR | 0600, 1 << 8 | 3), EPERM);
    FAILS(kill(1, SIGKILL), EPERM);
    CHECK(getuid() == 1000 && geteuid() == 1000);
}

static const struct attack attacks[] = {
#define ATTACK(name) \
    {                \
#name, name  \
    }
    ATTACK(last_byte), ATTACK(bad_addresses),  ATTACK(any_arguments),
    ATTACK(counts),    ATTACK(exec_arguments), ATTACK(privileged),
    {NULL, NULL},
};

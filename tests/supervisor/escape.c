/* Attacks from inside a jail: `escape NAME [ARG]...` makes one. Status 0: it
 * was repelled, with how on stdout; 1: it worked. `escape list` prints the
 * names. A few more commands only use things up. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* A call that must have failed; says with what. */
static bool
worked(const char *what, long r)
{
    printf("%s: %s\n", what, r < 0 ? strerror(errno) : "worked");
    return r >= 0;
}

static bool
opens(const char *path, int flags)
{
    return worked(path, open(path, flags | O_CLOEXEC, 0600));
}

/* --- files */

static bool
read_a_host_file(char **arg)
{
    char path[4096];
    bool any = opens(arg[0], O_RDONLY);

    snprintf(path, sizeof path, "/../../../../%s", arg[0]);
    any |= opens(path, O_RDONLY);
    snprintf(path, sizeof path, "/old%s", arg[0]);
    any |= opens(path, O_RDONLY);
    snprintf(path, sizeof path, "/proc/self/root%s", arg[0]);
    any |= opens(path, O_RDONLY);
    return any;
}

static bool
read_secrets_of_the_host(char **arg)
{
    (void)arg;
    return opens("/etc/shadow", O_RDONLY) | opens("/root", O_RDONLY) |
           opens("/old", O_RDONLY) | opens("/home", O_RDONLY) |
           opens("/sys", O_RDONLY) | opens("/run/docker.sock", O_RDONLY);
}

static bool
change_a_host_program(char **arg)
{
    (void)arg;
    return opens("/usr/bin/true", O_WRONLY) |
           opens("/usr/bin/planted", O_WRONLY | O_CREAT) |
           opens("/etc/planted", O_WRONLY | O_CREAT) |
           opens("/planted", O_WRONLY | O_CREAT) |
           worked("unlink", unlink("/usr/bin/true")) |
           worked("chmod", chmod("/usr/bin/true", 04777));
}

static bool
reach_the_disk_by_a_device(char **arg)
{
    (void)arg;
    return opens("/dev/mem", O_RDWR) | opens("/dev/kmsg", O_RDWR) |
           opens("/dev/vda", O_RDWR) | opens("/dev/sda", O_RDWR) |
           opens("/dev/loop-control", O_RDWR) | opens("/dev/kvm", O_RDWR) |
           opens("/dev/fuse", O_RDWR) |
           worked("mknod",
                  mknod("/workspace/d", S_IFBLK | 0600, makedev(254, 0)));
}

static bool
set_host_sysctls(char **arg)
{
    (void)arg;
    return opens("/proc/sys/kernel/core_pattern", O_WRONLY) |
           opens("/proc/sys/vm/overcommit_memory", O_WRONLY) |
           opens("/proc/sys/kernel/hostname", O_WRONLY) |
           opens("/proc/sysrq-trigger", O_WRONLY);
}

static bool
read_other_names_of_proc(char **arg)
{
    static const char *const shown[] = {
        ".",       "..",      "self", "thread-self", "sys",
        "cpuinfo", "meminfo", "stat", "loadavg",     "uptime",
        "version", "mounts",  "net",  "filesystems"};
    char path[512];
    bool any = false;
    DIR *proc = opendir("/proc");
    struct dirent *entry;

    (void)arg;
    while (proc && (entry = readdir(proc))) {
        bool is_shown = *entry->d_name >= '0' && *entry->d_name <= '9';
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
            is_shown |= !strcmp(entry->d_name, shown[i]);
        if (is_shown)
            continue;
        snprintf(path, sizeof path, "/proc/%s", entry->d_name);
        any |= opens(path, O_RDONLY) | worked("chmod", chmod(path, 0777));
    }
    return any | !proc | opens("/proc/sys/kernel/hostname", O_WRONLY);
}

/* --- network */

static bool
connect_to_the_hosts_loopback(char **arg)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)atoi(arg[0])),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    return worked("connect", connect(fd, (void *)&a, sizeof a));
}

static bool
connect_to_an_abstract_socket(char **arg)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strncpy(a.sun_path + 1, arg[0], sizeof a.sun_path - 2);
    return worked("connect", connect(fd, (void *)&a,
                                     (socklen_t)(sizeof a.sun_family + 1 +
                                                 strlen(arg[0]))));
}

static bool
send_beyond_the_loopback(char **arg)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons(53),
                            .sin_addr.s_addr = htonl(0x08080808)};
    struct if_nameindex *names = if_nameindex();
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    bool any = worked("sendto", sendto(fd, "x", 1, 0, (void *)&a, sizeof a));

    (void)arg;
    for (int i = 0; names && names[i].if_name; i++) {
        printf("interface %s\n", names[i].if_name);
        any |= strcmp(names[i].if_name, "lo") != 0;
    }
    return any | worked("raw socket", socket(AF_INET, SOCK_RAW, 1)) |
           worked("packet socket", socket(AF_PACKET, SOCK_RAW, 0));
}

/* Not even a socket: the kernel has code for each family that it knows. */
static bool
make_sockets_of_other_families(char **arg)
{
    bool any = false;

    (void)arg;
    for (int family = 0; family < 64; family++) {
        if (family == AF_UNIX || family == AF_INET || family == AF_INET6)
            continue;
        for (int protocol = family == AF_NETLINK; protocol < 32; protocol++)
            any |= socket(family, SOCK_RAW, protocol) >= 0 ||
                   socket(family, SOCK_STREAM, protocol) >= 0 ||
                   socket(family, SOCK_DGRAM, protocol) >= 0;
        int pair[2];
        any |= socketpair(family, SOCK_STREAM, 0, pair) >= 0;
        if (any)
            printf("family %d\n", family);
    }
    return any | worked("AF_VSOCK", socket(AF_VSOCK, SOCK_STREAM, 0));
}

/* --- other processes */

static bool
signal_the_supervisor(char **arg)
{
    return worked("kill", kill(atoi(arg[0]), SIGKILL));
}

/* They reach beyond pid namespaces. */
static bool
share_the_callers_process_group(char **arg)
{
    (void)arg;
    printf("group %d, session %d\n", getpgrp(), getsid(0));
    return !getpgrp() || !getsid(0);
}

/* Signals to the first process of the jail are accepted and have no effect:
 * this process goes on. */
static bool
kill_the_first_process(char **arg)
{
    (void)arg;
    for (int i = 1; i < NSIG; i++)
        (void)kill(1, i);
    return worked("kill 1 left it alive", kill(1, 0) < 0 ? 0 : -1);
}

static bool
trace_the_first_process(char **arg)
{
    (void)arg;
    return worked("attach", ptrace(PTRACE_ATTACH, 1, 0, 0)) |
           worked("seize", ptrace(PTRACE_SEIZE, 1, 0, 0)) |
           worked("traceme", ptrace(PTRACE_TRACEME, 0, 0, 0));
}

static bool
read_memory_of_the_first_process(char **arg)
{
    char byte;
    struct iovec to = {&byte, 1}, from = {(void *)&worked, 1};

    (void)arg;
    return opens("/proc/1/mem", O_RDWR) | opens("/proc/1/maps", O_RDONLY) |
           opens("/proc/1/environ", O_RDONLY) |
           worked("readv", process_vm_readv(1, &to, 1, &from, 1, 0)) |
           worked("writev", process_vm_writev(1, &to, 1, &from, 1, 0));
}

static bool
take_descriptors_of_the_first_process(char **arg)
{
    int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);

    (void)arg;
    return opens("/proc/1/fd", O_RDONLY) | opens("/proc/1/root", O_RDONLY) |
           opens("/proc/1/cwd", O_RDONLY) |
           worked("getfd", syscall(SYS_pidfd_getfd, pidfd, 0, 0));
}

static bool
see_processes_of_the_host(char **arg)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%s", arg[0]);
    return opens(path, O_RDONLY) |
           worked("pidfd", syscall(SYS_pidfd_open, atoi(arg[0]), 0));
}

static bool
use_inherited_descriptors(char **arg)
{
    bool any = false;

    (void)arg;
    for (int fd = 3; fd < 4096; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) {
            printf("descriptor %d is open\n", fd);
            any = true;
        }
    }
    return any;
}

static bool
read_the_callers_environment(char **arg)
{
    return worked("getenv", getenv(arg[0]) ? 0 : -1);
}

static bool
attach_a_segment_of_the_host(char **arg)
{
    return worked("shmget", shmget(atoi(arg[0]), 1, 0));
}

/* --- mounts and namespaces */

static bool
mount_something(char **arg)
{
    (void)arg;
    return worked("tmpfs", mount("t", "/workspace", "tmpfs", 0, NULL)) |
           worked("bind", mount("/usr", "/tmp", NULL, MS_BIND, NULL)) |
           worked("proc", mount("p", "/tmp", "proc", 0, NULL)) |
           worked("cgroup", mount("c", "/tmp", "cgroup", 0, "memory")) |
           worked("cgroup2", mount("c", "/tmp", "cgroup2", 0, NULL)) |
           worked("fsopen", syscall(SYS_fsopen, "tmpfs", 0)) |
           worked("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/usr", 1));
}

static bool
make_the_root_writable(char **arg)
{
    uint64_t clear[4] = {0, 1, 0, 0};

    (void)arg;
    return worked("remount /", mount(NULL, "/", NULL, MS_REMOUNT, NULL)) |
           worked("remount /usr",
                  mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL)) |
           worked("setattr", syscall(SYS_mount_setattr, AT_FDCWD, "/usr", 0,
                                     clear, sizeof clear)) |
           worked("umount", umount2("/usr", MNT_DETACH)) |
           worked("pivot_root", syscall(SYS_pivot_root, "/tmp", "/tmp")) |
           worked("chroot", chroot("/workspace"));
}

static bool
make_a_user_namespace(char **arg)
{
    struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    bool any = worked("unshare", unshare(CLONE_NEWUSER));
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

    (void)arg;
    if (!pid)
        _exit(0);
    any |= worked("clone", pid);
    pid = syscall(SYS_clone3, &args, sizeof args);
    if (!pid)
        _exit(0);
    return any | worked("clone3", pid);
}

static bool
make_other_namespaces(char **arg)
{
    (void)arg;
    return worked("mount", unshare(CLONE_NEWNS)) |
           worked("pid", unshare(CLONE_NEWPID)) |
           worked("net", unshare(CLONE_NEWNET)) |
           worked("cgroup", unshare(CLONE_NEWCGROUP));
}

static bool
enter_a_namespace(char **arg)
{
    int fd = open("/proc/self/ns/net", O_RDONLY);

    (void)arg;
    return worked("setns", setns(fd, 0)) | opens("/proc/1/ns/mnt", O_RDONLY);
}

/* --- limits and privileges */

static bool
write_cgroup_files(char **arg)
{
    (void)arg;
    return opens("/sys/fs/cgroup/cgroup.procs", O_WRONLY) |
           opens("/sys/fs/cgroup/memory/cgroup.procs", O_WRONLY) |
           opens("/sys/fs/cgroup/unified/cgroup.procs", O_WRONLY);
}

static bool
see_where_its_groups_are(char **arg)
{
    char line[256];
    bool any = false;
    FILE *f = fopen("/proc/self/cgroup", "r");

    (void)arg;
    while (f && fgets(line, sizeof line, f)) {
        fputs(line, stdout);
        any |= strcmp(strrchr(line, ':'), ":/\n") != 0;
    }
    return any | !f;
}

static bool
raise_limits(char **arg)
{
    struct rlimit core = {1 << 20, 1 << 20};
    struct sched_param first = {.sched_priority = 1};

    (void)arg;
    return worked("rlimit", setrlimit(RLIMIT_CORE, &core)) |
           worked("nice", setpriority(PRIO_PROCESS, 0,
                                      getpriority(PRIO_PROCESS, 0) - 1)) |
           worked("SCHED_FIFO", sched_setscheduler(0, SCHED_FIFO, &first));
}

static bool
hide_from_the_oom_killer(char **arg)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY);

    (void)arg;
    return worked("oom_score_adj", write(fd, "-1", 2));
}

static bool
have_capabilities(char **arg)
{
    char line[256];
    bool any = false;
    FILE *f = fopen("/proc/self/status", "r");

    (void)arg;
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "Cap", 3) && strncmp(line, "NoNewPrivs", 10))
            continue;
        fputs(line, stdout);
        any |= *line == 'C' ? strtoull(line + 7, NULL, 16) != 0
                            : atoi(line + 11) != 1;
    }
    return any | !f;
}

static bool
become_root(char **arg)
{
    (void)arg;
    return worked("setuid", setuid(0)) | worked("setgid", setgid(0)) |
           worked("setuid nobody", setuid(65534)) |
           worked("setgroups", setgroups(0, NULL));
}

/* --- the kernel */

static bool
call_foreign_system_calls(char **arg)
{
    bool any = false;

    (void)arg;
#ifdef __x86_64__
    any = worked("x32 getpid", syscall(0x40000000 | SYS_getpid));
    pid_t pid = fork();
    int status;
    if (!pid) {
        int r = 20; /* getpid of i386 */
        __asm__ volatile("int $0x80" : "+a"(r) : : "memory");
        _exit(r > 0 ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    printf("int 0x80: status %x\n", status);
    any |= WIFEXITED(status) && !WEXITSTATUS(status);
#endif
    return any;
}

static bool
type_into_the_terminal(char **arg)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY);

    (void)arg;
    return worked("TIOCSTI", ioctl(fd, TIOCSTI, "x")) |
           worked("TIOCSTI, high bits",
                  syscall(SYS_ioctl, fd, TIOCSTI | 1UL << 40, "x"));
}

/* Calls that a filter must refuse before the kernel looks at them. */
static const struct {
    const char *name;
    long nr;
} refused[] = {
#define CALL(name)        \
    {                     \
#name, SYS_##name \
    }
    CALL(bpf),
    CALL(perf_event_open),
    CALL(userfaultfd),
    CALL(io_uring_setup),
    CALL(io_uring_enter),
    CALL(io_uring_register),
    CALL(keyctl),
    CALL(add_key),
    CALL(request_key),
    CALL(kexec_load),
    CALL(kexec_file_load),
    CALL(init_module),
    CALL(finit_module),
    CALL(delete_module),
    CALL(reboot),
    CALL(acct),
    CALL(syslog),
    CALL(open_by_handle_at),
    CALL(name_to_handle_at),
    CALL(swapon),
    CALL(swapoff),
    CALL(quotactl),
    CALL(fanotify_init),
    CALL(settimeofday),
    CALL(clock_settime),
    CALL(kcmp),
    CALL(process_madvise),
    CALL(move_mount),
    CALL(fsmount),
    CALL(fsconfig),
    CALL(fspick),
    CALL(vhangup),
    CALL(chroot),
    CALL(sethostname),
    CALL(lookup_dcookie),
#undef CALL
};

static bool
make_refused_calls(char **arg)
{
    bool any = false;

    (void)arg;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        long r = syscall(refused[i].nr, -1L, -1L, -1L, -1L, -1L, -1L);
        any |= worked(refused[i].name, r) || errno != EPERM;
    }
    return any;
}

/* As on a kernel that does not have them: of the table's gaps, of newer
 * kernels, and two that nobody needs. */
static bool
make_unknown_calls(char **arg)
{
    bool any = false;

    (void)arg;
    for (long nr = 337; nr < 1024; nr++) {
        if (nr >= SYS_pidfd_send_signal && nr <= SYS_futex_waitv)
            continue;
        long r = syscall(nr, -1L, -1L, -1L, -1L, -1L, -1L);
        if ((r >= 0 || errno != ENOSYS) && nr != 452 && nr != 467)
            any = worked("an unknown call", printf("%ld: ", nr));
    }
    return any |
           (worked("migrate_pages", syscall(SYS_migrate_pages, 0)) ||
            errno != ENOSYS) |
           (worked("memfd_secret", syscall(SYS_memfd_secret, 0)) ||
            errno != ENOSYS);
}

static const struct {
    const char *name;
    bool (*attack)(char **arg);
} attacks[] = {
#define ATTACK(name) \
    {                \
#name, name  \
    }
    ATTACK(read_a_host_file),
    ATTACK(read_secrets_of_the_host),
    ATTACK(change_a_host_program),
    ATTACK(reach_the_disk_by_a_device),
    ATTACK(set_host_sysctls),
    ATTACK(read_other_names_of_proc),
    ATTACK(connect_to_the_hosts_loopback),
    ATTACK(connect_to_an_abstract_socket),
    ATTACK(send_beyond_the_loopback),
    ATTACK(make_sockets_of_other_families),
    ATTACK(signal_the_supervisor),
    ATTACK(share_the_callers_process_group),
    ATTACK(kill_the_first_process),
    ATTACK(trace_the_first_process),
    ATTACK(read_memory_of_the_first_process),
    ATTACK(take_descriptors_of_the_first_process),
    ATTACK(see_processes_of_the_host),
    ATTACK(use_inherited_descriptors),
    ATTACK(read_the_callers_environment),
    ATTACK(attach_a_segment_of_the_host),
    ATTACK(mount_something),
    ATTACK(make_the_root_writable),
    ATTACK(make_a_user_namespace),
    ATTACK(make_other_namespaces),
    ATTACK(enter_a_namespace),
    ATTACK(write_cgroup_files),
    ATTACK(see_where_its_groups_are),
    ATTACK(raise_limits),
    ATTACK(hide_from_the_oom_killer),
    ATTACK(have_capabilities),
    ATTACK(become_root),
    ATTACK(call_foreign_system_calls),
    ATTACK(type_into_the_terminal),
    ATTACK(make_refused_calls),
    ATTACK(make_unknown_calls),
#undef ATTACK
};
enum { N_ATTACKS = sizeof attacks / sizeof *attacks };

/* In use.c: status 0 if nothing has stopped it, -1 if there is no such use. */
int use(const char *name, char **arg);

int
main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < N_ATTACKS; i++) {
        if (!strcmp(name, "list"))
            puts(attacks[i].name);
        else if (!strcmp(name, attacks[i].name))
            return attacks[i].attack(argv + 2);
    }
    return strcmp(name, "list") ? use(name, argv + 2) : 0;
}

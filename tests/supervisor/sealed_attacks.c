/* Attacks on what is outside: files, network, processes, privileges. */
#include "sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

/* --- files */

static bool
open_a_host_file(const char *arg)
{
    struct open_how how = {.flags = O_RDONLY};
    char path[600];

    snprintf(path, sizeof path, "/proc/self/root%s", arg);
    return worked("open", open(arg, O_RDONLY)) |
           worked("creat", syscall(SYS_creat, arg, 0600)) |
           worked("openat2",
                  syscall(SYS_openat2, AT_FDCWD, arg, &how, sizeof how)) |
           worked("/proc/self/root", open(path, O_RDONLY)) |
           worked("readlink", readlink(arg, path, sizeof path)) |
           worked("stat", syscall(SYS_newfstatat, AT_FDCWD, arg, path, 0));
}

static bool
list_the_root(const char *arg)
{
    char buf[512];
    int fd = open("/", O_RDONLY | O_DIRECTORY);

    (void)arg;
    return worked("open /", fd) |
           worked("getdents", syscall(SYS_getdents64, 0, buf, sizeof buf)) |
           worked("getcwd", syscall(SYS_getcwd, buf, sizeof buf)) |
           worked("chdir", chdir("/")) | worked("fchdir", fchdir(0));
}

static bool
make_files(const char *arg)
{
    (void)arg;
    return worked("open", open("/f", O_CREAT | O_WRONLY, 0600)) |
           worked("O_TMPFILE", open("/", O_TMPFILE | O_RDWR, 0600)) |
           worked("mkdir", mkdir("/d", 0700)) |
           worked("mknod", mknod("/b", S_IFBLK | 0600, 0x0801)) |
           worked("symlink", symlink("/", "/l")) |
           worked("link", link("/", "/l")) | worked("chmod", chmod("/", 0777)) |
           worked("rename", rename("/", "/x"));
}

static bool
fill_a_disk(const char *arg)
{
    int fd[2];

    (void)arg;
    return worked("memfd", memfd_create("x", 0)) |
           worked("memfd_secret", syscall(SYS_memfd_secret, 0)) |
           worked("pipe", pipe(fd)) |
           worked("fallocate", fallocate(1, 0, 0, 1)) |
           worked("ftruncate", ftruncate(1, 1)) |
           worked("sendfile", syscall(SYS_sendfile, 1, 0, NULL, 1)) |
           worked("splice", splice(0, NULL, 1, NULL, 1, 0)) |
           worked("mq_open",
                  syscall(SYS_mq_open, "q", O_CREAT | O_RDWR, 0600, NULL)) |
           worked("shmget", shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600)) |
           worked("msgget", syscall(SYS_msgget, IPC_PRIVATE, 0600)) |
           worked("semget", syscall(SYS_semget, IPC_PRIVATE, 1, 0600));
}

static bool
read_proc(const char *arg)
{
    (void)arg;
    return worked("mem", open("/proc/self/mem", O_RDWR)) |
           worked("maps", open("/proc/self/maps", O_RDONLY)) |
           worked("environ", open("/proc/1/environ", O_RDONLY)) |
           worked("fd", open("/proc/self/fd/0", O_RDWR)) |
           worked("sysrq", open("/proc/sysrq-trigger", O_WRONLY)) |
           worked("core_pattern",
                  open("/proc/sys/kernel/core_pattern", O_WRONLY));
}

static bool
use_other_descriptors(const char *arg)
{
    bool any = false;

    (void)arg;
    for (int fd = 5; fd < 2048; fd++) { /* 4 is the socket of its broker */
        char byte;
        if (read(fd, &byte, 1) >= 0 || errno != EBADF) {
            say("descriptor %d: %s\n", fd, strerrorname_np(errno));
            any = true;
        }
    }
    return any;
}

/* --- network */

static bool
use_the_network(const char *arg)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)atoi(arg)),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int v[2];

    return worked("inet", socket(AF_INET, SOCK_STREAM, 0)) |
           worked("inet6", socket(AF_INET6, SOCK_DGRAM, 0)) |
           worked("unix", socket(AF_UNIX, SOCK_STREAM, 0)) |
           worked("netlink", socket(AF_NETLINK, SOCK_RAW, 0)) |
           worked("packet", socket(AF_PACKET, SOCK_RAW, 0)) |
           worked("vsock", socket(40, SOCK_STREAM, 0)) |
           worked("alg", socket(38, SOCK_SEQPACKET, 0)) |
           worked("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, v)) |
           worked("connect", connect(0, (void *)&a, sizeof a)) |
           worked("connect 3", connect(3, (void *)&a, sizeof a)) |
           worked("bind", bind(3, (void *)&a, sizeof a)) |
           worked("listen", listen(3, 1)) |
           worked("accept", accept(3, NULL, NULL));
}

static bool
connect_elsewhere_with_sendmsg(const char *arg)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct iovec v = {"x", 1};
    struct msghdr m = {.msg_name = &a,
                       .msg_namelen = sizeof a,
                       .msg_iov = &v,
                       .msg_iovlen = 1};

    strncpy(a.sun_path + 1, arg, sizeof a.sun_path - 2);
    return worked("sendmsg", sendmsg(3, &m, MSG_NOSIGNAL)) |
           worked("sendto", sendto(3, "x", 1, 0, (void *)&a, sizeof a)) |
           worked("sendmmsg", syscall(SYS_sendmmsg, 3, &m, 1, 0));
}

/* Descriptor 4 is a socket, as the connections that a broker passes are. The
 * filter decides by the call alone, so its refusal holds for those as well. */
static bool
misuse_a_connection(const char *arg)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(80)};
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    socklen_t len = sizeof a;
    int on = 1;

    (void)arg;
    return passed("disconnect", connect(4, &none, sizeof none)) |
           passed("connect", connect(4, (void *)&a, sizeof a)) |
           passed("sendto", sendto(4, "x", 1, 0, (void *)&a, sizeof a)) |
           passed("fast open", sendto(4, "x", 1, MSG_FASTOPEN, NULL, 0)) |
           passed("fast open to", sendto(4, "x", 1, MSG_FASTOPEN | MSG_MORE,
                                         (void *)&a, sizeof a)) |
           passed("getsockname", getsockname(4, (void *)&a, &len)) |
           passed("getpeername", getpeername(4, (void *)&a, &len)) |
           passed("setsockopt",
                  setsockopt(4, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on)) |
           passed("getsockopt",
                  getsockopt(4, SOL_SOCKET, SO_PEERCRED, &a, &len));
}

/* --- other processes */

static bool
signal_others(const char *arg)
{
    pid_t pid = atoi(arg);
    siginfo_t info = {.si_signo = SIGKILL, .si_code = SI_QUEUE};

    return passed("kill", kill(pid, SIGKILL)) |
           passed("kill 0", kill(0, SIGKILL)) |
           passed("kill -1", kill(-1, SIGKILL)) |
           passed("tkill", syscall(SYS_tkill, pid, SIGKILL)) |
           passed("tgkill", syscall(SYS_tgkill, pid, pid, SIGKILL)) |
           passed("sigqueue",
                  syscall(SYS_rt_sigqueueinfo, pid, SIGKILL, &info)) |
           passed("tgsigqueue",
                  syscall(SYS_rt_tgsigqueueinfo, pid, pid, SIGKILL, &info)) |
           passed("pidfd_open", syscall(SYS_pidfd_open, pid, 0)) |
           passed("pidfd_send_signal",
                  syscall(SYS_pidfd_send_signal, 0, SIGKILL, NULL, 0)) |
           passed("F_SETOWN", fcntl(0, F_SETOWN, pid)) |
           passed("F_SETSIG", fcntl(0, F_SETSIG, SIGKILL)) |
           passed("SIOCSPGRP", ioctl(0, SIOCSPGRP, &pid));
}

static bool
trace_others(const char *arg)
{
    pid_t pid = atoi(arg);
    char byte;
    struct iovec to = {&byte, 1}, from = {(void *)&worked, 1};

    return passed("attach", ptrace(PTRACE_ATTACH, pid, 0, 0)) |
           passed("seize", ptrace(PTRACE_SEIZE, 1, 0, 0)) |
           passed("traceme", ptrace(PTRACE_TRACEME, 0, 0, 0)) |
           passed("readv", process_vm_readv(pid, &to, 1, &from, 1, 0)) |
           passed("writev", process_vm_writev(1, &to, 1, &from, 1, 0)) |
           passed("kcmp", syscall(SYS_kcmp, pid, 1, 0, 0, 0)) |
           passed("getfd", syscall(SYS_pidfd_getfd, 0, 0, 0)) |
           passed("process_madvise",
                  syscall(SYS_process_madvise, 0, &to, 1, 4, 0)) |
           passed("move_pages", syscall(SYS_move_pages, pid, 0, 0, 0, 0, 0));
}

static bool
make_processes(const char *arg)
{
    const unsigned long thread = CLONE_VM | CLONE_FS | CLONE_FILES |
                                 CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                                 CLONE_SETTLS | CLONE_PARENT_SETTID |
                                 CLONE_CHILD_CLEARTID;
    bool any =
        passed("fork", syscall(SYS_fork)) |
        passed("vfork", syscall(SYS_vfork)) |
        passed("clone", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) |
        passed("CLONE_PARENT", syscall(SYS_clone, CLONE_PARENT, 0, 0, 0, 0));

    (void)arg;
    any |= worked("clone3", syscall(SYS_clone3, NULL, 64)) || errno != ENOSYS;
    for (int i = 0; i < 32; i++) {
        unsigned long flags = thread ^ 1UL << i;
        any |= passed("clone, one flag other",
                      syscall(SYS_clone, flags, 0, 0, 0, 0));
    }
    return any;
}

static bool
execute_something(const char *arg)
{
    char *argv[] = {"x", NULL};

    return passed("execve", execve(arg, argv, argv + 1)) |
           passed("execveat",
                  syscall(SYS_execveat, 0, "", argv, argv + 1, AT_EMPTY_PATH)) |
           passed("execveat /",
                  syscall(SYS_execveat, AT_FDCWD, arg, argv, argv + 1, 0)) |
           passed("uselib", syscall(SYS_uselib, arg));
}

static bool
outlive_the_supervisor(const char *arg)
{
    (void)arg;
    return passed("PDEATHSIG", prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)) |
           passed("SUBREAPER", prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) |
           passed("setsid", setsid()) | passed("setpgid", setpgid(0, 0));
}

/* --- mounts and namespaces */

static bool
mount_something(const char *arg)
{
    (void)arg;
    return passed("mount", mount("t", "/", "tmpfs", 0, NULL)) |
           passed("remount", mount(NULL, "/", NULL, MS_REMOUNT, NULL)) |
           passed("umount", umount2("/", MNT_DETACH)) |
           passed("pivot_root", syscall(SYS_pivot_root, "/", "/")) |
           passed("chroot", chroot("/")) |
           passed("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/", 1)) |
           passed("move_mount", syscall(SYS_move_mount, 0, "", 0, "/", 4)) |
           passed("fsopen", syscall(SYS_fsopen, "tmpfs", 0)) |
           passed("mount_setattr",
                  syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, 0, 0));
}

static bool
make_namespaces(const char *arg)
{
    static const int kinds[] = {CLONE_NEWUSER,  CLONE_NEWNS,  CLONE_NEWPID,
                                CLONE_NEWNET,   CLONE_NEWIPC, CLONE_NEWUTS,
                                CLONE_NEWCGROUP};
    bool any = passed("setns", setns(0, 0)) |
               passed("setns 3", setns(3, CLONE_NEWNET));

    (void)arg;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        any |=
            passed("unshare", unshare(kinds[i])) |
            passed("clone", syscall(SYS_clone, kinds[i] | SIGCHLD, 0, 0, 0, 0));
    return any;
}

/* --- limits and privileges */

static bool
raise_limits(const char *arg)
{
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    struct sched_param first = {.sched_priority = 1};

    (void)arg;
    return passed("setrlimit", syscall(SYS_setrlimit, RLIMIT_DATA, &all)) |
           passed("prlimit",
                  syscall(SYS_prlimit64, 0, RLIMIT_DATA, &all, NULL)) |
           passed("nice", setpriority(PRIO_PROCESS, 0, -20)) |
           passed("scheduler", sched_setscheduler(0, SCHED_FIFO, &first)) |
           passed("sched_setattr", syscall(SYS_sched_setattr, 0, NULL, 0)) |
           passed("affinity", syscall(SYS_sched_setaffinity, 0, 0, NULL)) |
           passed("ioprio", syscall(SYS_ioprio_set, 1, 0, 0)) |
           passed("mlockall", mlockall(MCL_CURRENT)) |
           passed("oom_score_adj", open("/proc/self/oom_score_adj", O_WRONLY)) |
           passed("cgroup", open("/sys/fs/cgroup/cgroup.procs", O_WRONLY));
}

static bool
gain_privileges(const char *arg)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct all[2] = {{~0U, ~0U, ~0U}, {~0U, ~0U, ~0U}};

    (void)arg;
    return passed("setuid", syscall(SYS_setuid, 0)) |
           passed("setgid", syscall(SYS_setgid, 0)) |
           passed("setresuid", syscall(SYS_setresuid, 0, 0, 0)) |
           passed("setgroups", syscall(SYS_setgroups, 0, NULL)) |
           passed("setfsuid", syscall(SYS_setfsuid, 0)) |
           passed("capset", syscall(SYS_capset, &head, all)) |
           passed("ambient",
                  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 1, 0, 0)) |
           passed("dumpable", prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)) |
           passed("securebits", prctl(PR_SET_SECUREBITS, 0, 0, 0, 0));
}

const struct attack attacks[] = {
#define ATTACK(name) \
    {                \
#name, name  \
    }
    ATTACK(open_a_host_file),
    ATTACK(list_the_root),
    ATTACK(make_files),
    ATTACK(fill_a_disk),
    ATTACK(read_proc),
    ATTACK(use_other_descriptors),
    ATTACK(use_the_network),
    ATTACK(connect_elsewhere_with_sendmsg),
    ATTACK(misuse_a_connection),
    ATTACK(signal_others),
    ATTACK(trace_others),
    ATTACK(make_processes),
    ATTACK(execute_something),
    ATTACK(outlive_the_supervisor),
    ATTACK(mount_something),
    ATTACK(make_namespaces),
    ATTACK(raise_limits),
    ATTACK(gain_privileges),
#undef ATTACK
    {0},
};

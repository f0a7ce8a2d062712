/* The jail, seen from outside: start, identity, end.
 *
 * The child is created in its group and namespaces by one clone3, and waits.
 * Only its parent can map its user and move it into groups of v1. Then the
 * child restricts itself (inside.c) and reports that it is ready. */
#include "supervisor/jail/jail.h"

#include "supervisor/common/file.h"

#include "base/hfd.h"
#include "base/own.h"
#include "seal/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    /* Each jail has a user of its own on the host: this plus its pid. The
     * range is free: containers of systemd end before it. */
    FIRST_UID = 0x70000000,
    NOBODY = 65534,
    /* the jail's own first process */
    INIT_PROCESSES = 1,
    INIT_MEMORY_MB = 2,
};

enum { LINES_BYTES = 128 };

/* Records the failed step and returns r. */
static int
jail_fail(char where[WHERE_BYTES], const char *step, int r)
{
    (void)snprintf(where, WHERE_BYTES, "%s", step);
    return r;
}

/* --- identity */

/* Writes a map of users or groups. The kernel accepts each map once, in a
 * single write. */
static int
jail_write_map(pid_t pid, const char *file, const char *lines)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    return file_write_text(AT_FDCWD, path, lines);
}

/* Maps the jail's user to `uid` outside. With is_root_too, it begins as
 * root. */
static int
jail_map_both(pid_t pid, bool is_root_too, unsigned uid, unsigned gid)
{
    const char *root = is_root_too ? "0 0 1\n" : "";
    char lines[LINES_BYTES];

    (void)snprintf(lines, sizeof lines, "%s%d %u 1\n", root, JAIL_UID, uid);
    int r = jail_write_map(pid, "uid_map", lines);
    if (r < 0)
        return r;
    (void)snprintf(lines, sizeof lines, "%s%d %u 1\n", root, JAIL_UID, gid);
    return jail_write_map(pid, "gid_map", lines);
}

/* Without root, only our own user can be mapped. The kernel then requires
 * setgroups to be denied first. */
static int
jail_map_self(pid_t pid, int inside)
{
    char lines[LINES_BYTES];

    int r = jail_write_map(pid, "setgroups", "deny");
    if (r < 0)
        return r;
    (void)snprintf(lines, sizeof lines, "%d %u 1\n", inside, geteuid());
    r = jail_write_map(pid, "uid_map", lines);
    if (r < 0)
        return r;
    (void)snprintf(lines, sizeof lines, "%d %u 1\n", inside, getegid());
    return jail_write_map(pid, "gid_map", lines);
}

/* In a container our own namespace may have few users. `nobody` is used
 * then. */
int
jail_map_user(pid_t pid, bool begins_as_root)
{
    unsigned uid = FIRST_UID + (unsigned)pid;

    if (geteuid())
        return jail_map_self(pid, begins_as_root ? 0 : JAIL_UID);
    /* nobody, where our own namespace has few users */
    return jail_map_both(pid, begins_as_root, uid, uid)
               ? jail_map_both(pid, begins_as_root, NOBODY, NOBODY)
               : 0;
}

/* --- start */

/* One call creates the process in all namespaces and, if possible, in its
 * group. No code of the child runs outside of its limits. */
int
jail_clone(const struct jail_start *b, pid_t *ret_pid, int *ret_pid_hfd)
{
    struct clone_args args = {.flags = CLONE_NEWUSER | CLONE_NEWNS |
                                       CLONE_NEWPID | CLONE_NEWIPC |
                                       CLONE_NEWUTS | CLONE_PIDFD,
                              .pidfd = (uint64_t)(uintptr_t)ret_pid_hfd};

    if (!b->has_network)
        args.flags |= CLONE_NEWNET;
    if (b->for_parent)
        args.flags |= CLONE_PARENT;
    else
        args.exit_signal = SIGCHLD;
    if (b->group_hfd >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (uint64_t)b->group_hfd;
    }
    long pid = syscall(SYS_clone3, &args, sizeof args);
    if (pid < 0)
        return -errno;
    *ret_pid = (pid_t)pid;
    return 0;
}

static int
jail_spawn(struct jail *j, struct jail_plan *plan, const struct jail_start *b)
{
    int r = jail_clone(b, &j->pid, &j->pid_hfd);

    if (r == 0 && !j->pid)
        _exit(jail_inside(plan));
    return r;
}

/* Waits until the first process is ready, or has failed. An end of file means
 * that it died. */
static int
jail_wait_ready(struct jail *j, char where[WHERE_BYTES])
{
    struct jail_message m;

    if (read(j->message_hfd, &m, sizeof m) != sizeof m)
        return jail_fail(where, "first process", -ECHILD);
    m.where[WHERE_BYTES - 1] = 0;
    return m.kind == JAIL_READY ? 0 : jail_fail(where, m.where, -m.value);
}

/* Opens a folder of the jail through /proc, before the command runs. */
static int
jail_open_inside(const struct jail *j, const char *name)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/root/%s", j->pid, name);
    int hfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return hfd < 0 ? -errno : hfd;
}

/* Sets up the waiting child from outside, and opens the folders that the
 * watchdog needs later. */
static int
jail_bring_up(struct jail *j, const struct cgroup *group,
              char where[WHERE_BYTES])
{
    int r = cgroup_move(group, j->pid);

    if (r < 0)
        return jail_fail(where, "cgroup.procs", r);
    r = jail_map_user(j->pid, false);
    if (r < 0)
        return jail_fail(where, "uid_map", r);
    r = jail_go(j);
    if (r == 0)
        r = jail_wait_ready(j, where);
    if (r < 0)
        return r;
    j->disk_hfd = jail_open_inside(j, "workspace");
    j->proc_hfd = jail_open_inside(j, "proc");
    if (j->disk_hfd < 0 || j->proc_hfd < 0)
        return jail_fail(where, "/proc/PID/root", -EACCES);
    return 0;
}

/* Two pipes: messages of the jail, and our permission to proceed. */
static int
jail_build(struct jail *j, struct jail_plan *plan, const struct jail_start *b,
           char where[WHERE_BYTES])
{
    int message[2], go[2];

    if (pipe2(message, O_CLOEXEC) < 0)
        return jail_fail(where, "pipe", -errno);
    j->message_hfd = message[0];
    CLEANUP(hfd_closep) int message_hfd = message[1];
    if (pipe2(go, O_CLOEXEC) < 0)
        return jail_fail(where, "pipe", -errno);
    j->go_hfd = go[1];
    CLEANUP(hfd_closep) int go_hfd = go[0];
    plan->message_hfd = message_hfd;
    plan->go_hfd = go_hfd;
    int r = jail_spawn(j, plan, b);
    return r < 0 ? jail_fail(where, "clone3", r) : 0;
}

/* Files in memory are charged to the group like memory, so the limit is the sum
 * of both. watch.c enforces the memory limit alone. */
int
jail_group(struct cgroup *g, const struct cgroup_host *h, const uint32_t *limit)
{
    uint32_t mb = limit[LIMIT_memory] + limit[LIMIT_disk] + INIT_MEMORY_MB;
    const struct cgroup_limits l = {mb_bytes(mb), limit[LIMIT_cpu],
                                    limit[LIMIT_processes] + INIT_PROCESSES};

    int r = cgroup_init(g, h);
    if (r < 0)
        return r;
    r = cgroup_limit(g, &l);
    if (r < 0)
        cgroup_fini(g);
    return r;
}

/* Limits without a controller are enforced by rlimits inside of the jail. */
int
jail_make(struct jail *j, const struct options *o, const struct cgroup *group,
          bool for_parent, char where[WHERE_BYTES])
{
    const int *of = group->host->of;
    struct jail_plan plan = {.o = o,
                             .rlimit_memory = of[CTL_memory] < 0,
                             .rlimit_processes = of[CTL_pids] < 0};
    const struct jail_start b = {.group_hfd = cgroup_start_hfd(group),
                                 .has_network = o->limit[LIMIT_network],
                                 .for_parent = for_parent};

    *j = (struct jail){.pid = -1,
                       .pid_hfd = -1,
                       .message_hfd = -1,
                       .go_hfd = -1,
                       .disk_hfd = -1,
                       .proc_hfd = -1};
    int r = jail_build(j, &plan, &b, where);
    return r < 0 ? r : jail_bring_up(j, group, where);
}

int
jail_start(struct jail *j, const struct options *o, const struct cgroup *group,
           char where[WHERE_BYTES])
{
    struct rusage usage;
    int r = jail_make(j, o, group, false, where);

    if (r < 0)
        jail_end(j, &usage);
    return r;
}

int
jail_go(struct jail *j)
{
    return hfd_write_all(j->go_hfd, "g", 1);
}

void
jail_kill(const struct jail *j)
{
    (void)syscall(SYS_pidfd_send_signal, j->pid_hfd, SIGKILL, NULL, 0);
}

/* A tmpfs reports its used blocks, so no walk over the files is needed. */
int
jail_disk(const struct jail *j, uint64_t *ret_bytes)
{
    struct statfs fs;

    if (fstatfs(j->disk_hfd, &fs) < 0)
        return -errno;
    *ret_bytes = (fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
    return 0;
}

void
jail_forget(struct jail *j)
{
    hfd_closep(&j->pid_hfd);
    hfd_closep(&j->message_hfd);
    hfd_closep(&j->go_hfd);
    hfd_closep(&j->disk_hfd);
    hfd_closep(&j->proc_hfd);
    j->pid = -1;
}

void
jail_end(struct jail *j, struct rusage *ret_usage)
{
    memset(ret_usage, 0, sizeof *ret_usage);
    if (j->pid > 0) {
        jail_kill(j);
        while (wait4(j->pid, NULL, 0, ret_usage) < 0 && errno == EINTR)
            ;
    }
    jail_forget(j);
}

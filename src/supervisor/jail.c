/* The jail, seen from outside: birth, identity, end. */
#include "supervisor/jail.h"

#include "supervisor/file.h"

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

static const uint64_t namespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;

static int
fail(char where[WHERE_BYTES], const char *step, int r)
{
    (void)snprintf(where, WHERE_BYTES, "%s", step);
    return r;
}

static int
write_map(pid_t pid, const char *file, unsigned id)
{
    char path[64], line[64];

    (void)snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    (void)snprintf(line, sizeof line, "%d %u 1\n", JAIL_UID, id);
    return file_write(AT_FDCWD, path, line);
}

static int
map_both(pid_t pid, unsigned uid, unsigned gid)
{
    int r = write_map(pid, "uid_map", uid);

    return r < 0 ? r : write_map(pid, "gid_map", gid);
}

/* Root gives it a user of its own, or nobody where our own namespace has few
 * users; others can only give it themselves. */
static int
map_user(pid_t pid)
{
    unsigned own = FIRST_UID + (unsigned)pid;
    char path[64];

    if (!geteuid())
        return map_both(pid, own, own) ? map_both(pid, NOBODY, NOBODY) : 0;
    (void)snprintf(path, sizeof path, "/proc/%d/setgroups", pid);
    int r = file_write(AT_FDCWD, path, "deny");
    return r < 0 ? r : map_both(pid, geteuid(), getegid());
}

static int
give_birth(struct jail *j, struct jail_plan *plan, int birthplace)
{
    struct clone_args args = {.flags = namespaces | CLONE_PIDFD,
                              .exit_signal = SIGCHLD,
                              .pidfd = (uint64_t)(uintptr_t)&j->pid_hfd};

    if (!plan->o->limit[LIMIT_network])
        args.flags |= CLONE_NEWNET;
    if (birthplace >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (uint64_t)birthplace;
    }
    j->pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (j->pid < 0)
        return -errno;
    if (!j->pid)
        _exit(jail_inside(plan));
    return 0;
}

static int
wait_ready(struct jail *j, char where[WHERE_BYTES])
{
    struct jail_message m;

    if (read(j->message_hfd, &m, sizeof m) != sizeof m)
        return fail(where, "first process", -ECHILD);
    m.where[WHERE_BYTES - 1] = 0;
    return m.kind == JAIL_READY ? 0 : fail(where, m.where, -m.value);
}

static int
open_inside(const struct jail *j, const char *name)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/root/%s", j->pid, name);
    int hfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return hfd < 0 ? -errno : hfd;
}

static int
bring_up(struct jail *j, const struct cgroup *group, bool born_inside,
         char where[WHERE_BYTES])
{
    int r = cgroup_move(group, j->pid, born_inside);

    if (r < 0)
        return fail(where, "cgroup.procs", r);
    r = map_user(j->pid);
    if (r < 0)
        return fail(where, "uid_map", r);
    r = jail_go(j);
    if (r == 0)
        r = wait_ready(j, where);
    if (r < 0)
        return r;
    j->disk_hfd = open_inside(j, "workspace");
    j->proc_hfd = open_inside(j, "proc");
    if (j->disk_hfd < 0 || j->proc_hfd < 0)
        return fail(where, "/proc/PID/root", -EACCES);
    return 0;
}

static int
start(struct jail *j, struct jail_plan *plan, const struct cgroup *group,
      char where[WHERE_BYTES])
{
    int message[2], go[2], birthplace = cgroup_birthplace(group);

    if (pipe2(message, O_CLOEXEC) < 0)
        return fail(where, "pipe", -errno);
    j->message_hfd = message[0];
    CLEANUP(hfd_closep) int message_hfd = message[1];
    if (pipe2(go, O_CLOEXEC) < 0)
        return fail(where, "pipe", -errno);
    j->go_hfd = go[1];
    CLEANUP(hfd_closep) int go_hfd = go[0];
    plan->message_hfd = message_hfd;
    plan->go_hfd = go_hfd;
    int r = give_birth(j, plan, birthplace);
    return r < 0 ? fail(where, "clone3", r) : 0;
}

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

int
jail_start(struct jail *j, const struct options *o, const struct cgroup *group,
           char where[WHERE_BYTES])
{
    const int *of = group->host->of;
    struct jail_plan plan = {.o = o,
                             .rlimit_memory = of[CTL_memory] < 0,
                             .rlimit_processes = of[CTL_pids] < 0};
    struct rusage usage;

    *j = (struct jail){.pid = -1,
                       .pid_hfd = -1,
                       .message_hfd = -1,
                       .go_hfd = -1,
                       .disk_hfd = -1,
                       .proc_hfd = -1};
    int r = start(j, &plan, group, where);
    if (r == 0)
        r = bring_up(j, group, cgroup_birthplace(group) >= 0, where);
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

int
jail_disk(const struct jail *j, uint64_t *ret_bytes)
{
    struct statfs fs;

    if (fstatfs(j->disk_hfd, &fs) < 0)
        return -errno;
    *ret_bytes = (fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
    return 0;
}

static void
close_all(struct jail *j)
{
    hfd_closep(&j->pid_hfd);
    hfd_closep(&j->message_hfd);
    hfd_closep(&j->go_hfd);
    hfd_closep(&j->disk_hfd);
    hfd_closep(&j->proc_hfd);
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
    close_all(j);
    j->pid = -1;
}

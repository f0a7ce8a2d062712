/* Tasks: creation, lookup, groups and sessions.
 *
 * A new task is complete before it is linked: until then, nobody can find it,
 * and a failure only has to free what it has. Only task_reap unlinks and frees
 * a task. */
#include "kernel/task.h"

#include "kernel/kernel.h"
#include "kernel/pidfd.h"
#include "kernel/timers.h"
#include "kernel/tty.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { PID_FIRST_REUSED = 2 };

struct task *
task_find(struct kernel *k, int pid)
{
    struct list *bucket = &k->pids[(unsigned)pid % PID_BUCKETS];

    LIST_FOR_EACH(it, bucket) {
        struct task *t = CONTAINER_OF(it, struct task, hash);
        if (t->pid == pid)
            return t;
    }
    return NULL;
}

struct task *
task_find_thread(struct kernel *k, int tid)
{
    struct task *of = task_find(k, tid);

    if (of)
        return of;
    LIST_FOR_EACH(it, &k->tasks) {
        struct task *t = CONTAINER_OF(it, struct task, link);
        if (thread_find(t, tid))
            return t;
    }
    return NULL;
}

/* Returns true if a task, a thread, a group or a session has this number. A
 * group may outlive its leader. */
static bool
task_pid_is_taken(struct kernel *k, int pid)
{
    LIST_FOR_EACH(it, &k->tasks) {
        struct task *t = CONTAINER_OF(it, struct task, link);
        if (t->pid == pid || t->pgid == pid || t->sid == pid ||
            thread_find(t, pid))
            return true;
    }
    return false;
}

/* Numbers are given out in order. Before the first wrap-around none of them can
 * be in use, so the search is skipped. */
int
task_new_tid(struct kernel *k)
{
    int pid = k->last_pid;
    bool wrapped = k->has_wrapped_pids;

    do {
        if (++pid >= PID_MAX) {
            pid = PID_FIRST_REUSED;
            wrapped = true;
        }
    } while (wrapped && task_pid_is_taken(k, pid));
    k->has_wrapped_pids = wrapped;
    return k->last_pid = pid;
}

/* The limits of the sandbox are shown as hard limits, which no process can
 * raise. */
static void
task_init_rlimits(struct task *t)
{
    struct kernel *k = t->kernel;
    uint64_t fds = k->limits.max[LIMIT_fds];

    for (int i = 0; i < RLIMIT_COUNT; i++)
        t->rlimits[i] = (struct rlimit_k){RLIM_INFINITY, RLIM_INFINITY};
    t->rlimits[RLIMIT_NOFILE] = (struct rlimit_k){fds, fds};
    t->rlimits[RLIMIT_STACK].cur = 8 << 20;
    t->rlimits[RLIMIT_CORE].cur = 0;
    t->rlimits[RLIMIT_NPROC] = (struct rlimit_k){
        k->limits.max[LIMIT_processes], k->limits.max[LIMIT_processes]};
    t->rlimits[RLIMIT_SIGPENDING] = (struct rlimit_k){
        k->limits.max[LIMIT_sigqueue], k->limits.max[LIMIT_sigqueue]};
    t->rlimits[RLIMIT_MEMLOCK] = (struct rlimit_k){8 << 20, 8 << 20};
    t->rlimits[RLIMIT_MSGQUEUE] = (struct rlimit_k){819200, 819200};
    t->rlimits[RLIMIT_NICE] = (struct rlimit_k){0, 0};
    t->rlimits[RLIMIT_RTPRIO] = (struct rlimit_k){0, 0};
}

/* Init has no program. It adopts orphans, and its state is what root processes
 * inherit. */
static void
task_init_first(struct task *t)
{
    struct mount *root = mount_root(&t->kernel->vfs);

    signals_init(&t->sig);
    task_init_rlimits(t);
    t->umask = 022;
    t->as.cred = t->kernel->user;
    t->as.root = t->cwd = (struct vnode){root, root->root};
    strcpy(t->comm, "init");
}

/* Everything that fork copies, except memory. Places are only copied here;
 * task_hold_nodes takes the references, so that a failure has none to
 * release. */
static int
task_inherit(struct task *t, struct task *parent)
{
    signals_copy(&t->sig, parent);
    memcpy(t->rlimits, parent->rlimits, sizeof t->rlimits);
    memcpy(t->comm, parent->comm, sizeof t->comm);
    t->umask = parent->umask;
    t->as = parent->as;
    t->cwd = parent->cwd;
    t->cwd_dir = parent->cwd_dir;
    memcpy(t->cwd_name, parent->cwd_name, sizeof t->cwd_name);
    t->exe = parent->exe;
    t->exe_dir = parent->exe_dir;
    memcpy(t->exe_name, parent->exe_name, sizeof t->exe_name);
    t->nice = parent->nice;
    t->policy = sched_policy_of_child(
        parent->thread ? *thread_policy(parent->thread, parent)
                       : parent->policy);
    t->pgid = parent->pgid;
    t->sid = parent->sid;
    t->run_tag = parent->run_tag;
    t->ctty = parent->ctty;
    int r = fd_table_copy(&t->fds, &parent->fds);
    return r < 0 ? r : args_copy(t, parent);
}

struct at
task_at(const struct task *t, const struct vnode *base, const char *path)
{
    return (struct at){
        .vfs = &t->kernel->vfs, .as = &t->as, .base = base, .path = path};
}

int
task_walk(const struct task *t, const struct vnode *base, const char *path,
          unsigned flags, struct walk *ret)
{
    const struct at at = task_at(t, base, path);

    return path_walk(&at, flags, ret);
}

static void
task_hold_nodes(struct task *t)
{
    vnode_hold(&t->cwd);
    vnode_hold(&t->as.root);
    if (t->exe.mnt)
        vnode_hold(&t->exe);
    if (t->ctty)
        tty_get(t->ctty);
}

/* From here on, the task can be found by its pid. */
static void
task_link(struct task *t, struct task *parent)
{
    struct kernel *k = t->kernel;

    t->pid = task_new_tid(k);
    if (!parent)
        t->pgid = t->sid = t->pid;
    else
        list_push_back(&parent->children, &t->sibling);
    t->parent = parent;
    list_push_back(&k->tasks, &t->link);
    list_push_back(&k->pids[(unsigned)t->pid % PID_BUCKETS], &t->hash);
}

static void
task_init(struct task *t, struct kernel *k)
{
    t->kernel = k;
    list_init(&t->link);
    list_init(&t->hash);
    list_init(&t->children);
    list_init(&t->sibling);
    list_init(&t->reap);
    list_init(&t->end);
    list_init(&t->threads);
    list_init(&t->posix_timers);
    list_init(&t->pidfds);
    waitq_init(&t->child_events);
    timers_init(t);
    t->start_ns = clock_mono_ns(&k->clock);
}

/* A process or thread costs a slot and a fee for its records. A zombie is
 * charged until task_reap. */
int
task_charge_process(const struct task *t)
{
    if (!kernel_charge(t, LIMIT_processes, 1))
        return -EAGAIN;
    if (kernel_charge(t, LIMIT_memory, PROCESS_FEE_BYTES))
        return 0;
    limits_uncharge(&t->kernel->limits, LIMIT_processes, 1);
    return -ENOMEM;
}

void
task_uncharge_process(struct kernel *k)
{
    limits_uncharge(&k->limits, LIMIT_processes, 1);
    limits_uncharge(&k->limits, LIMIT_memory, PROCESS_FEE_BYTES);
}

int
task_new(struct kernel *k, struct task *parent, OWN struct task **ret)
{
    int r = parent ? task_charge_process(parent) : 0;
    if (r < 0)
        return r;
    struct task *t = calloc(1, sizeof *t);
    r = t ? 0 : -ENOMEM;
    if (t) {
        task_init(t, k);
        if (parent)
            r = task_inherit(t, parent);
        else
            task_init_first(t);
    }
    if (r < 0) {
        if (t) {
            fd_close_all(t, false);
            args_fini(t);
        }
        free(t);
        if (parent)
            task_uncharge_process(k);
        return r;
    }
    task_hold_nodes(t);
    task_link(t, parent);
    k->n_forks++;
    *ret = t;
    return 0;
}

/* The usage of a child is added to its parent's when it is waited for, as on
 * Linux. */
void
task_reap(struct task *t)
{
    struct kernel *k = t->kernel;

    if (t->parent) {
        struct usage *u = &t->parent->children_usage;
        u->cpu_ns += t->usage.cpu_ns + t->children_usage.cpu_ns;
        if (t->usage.max_memory > u->max_memory)
            u->max_memory = t->usage.max_memory;
        task_uncharge_process(k);
    }
    list_remove(&t->link);
    list_remove(&t->hash);
    list_remove(&t->sibling);
    list_remove(&t->reap);
    waitq_fini(&t->child_events);
    pidfd_forget(t);
    signals_fini(&t->sig, k);
    args_fini(t);
    free(t);
}

/* The directory is held; its parent and name are kept in case it is removed. */
void
task_set_cwd(struct task *t, const struct vnode *v, const struct vnode *dir,
             const char *name)
{
    vnode_hold(v);
    vnode_release(&t->cwd);
    t->cwd = *v;
    t->cwd_dir = *dir;
    strncpy(t->cwd_name, name, sizeof t->cwd_name - 1);
}

/* --- groups */

/* Returns true if the parent of t is in another group of the same session: such
 * a parent can continue t after a stop. Init adopts orphans without becoming
 * such a link. */
bool
task_links_group(const struct task *t)
{
    const struct task *p = t->parent;

    return p && (p != t->kernel->init || t->is_host_child) &&
           p->pgid != t->pgid && p->sid == t->sid;
}

/* A group without links cannot be continued by anybody of its session. */
bool
task_group_is_orphaned(struct kernel *k, int pgid)
{
    LIST_FOR_EACH(it, &k->tasks) {
        struct task *t = CONTAINER_OF(it, struct task, link);
        if (t->pgid == pgid && !t->is_zombie && task_links_group(t))
            return false;
    }
    return true;
}

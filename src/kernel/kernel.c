/* A sandbox's kernel: its creation, its root processes, its end.
 *
 * Runs: the host starts a process for each command and gives it a tag, which
 * its children inherit. The tag tells the processes of the current command from
 * those that earlier commands left in the background. These get less: no last
 * eighth of memory and processes, and a lower place in the scheduler. */
#include "kernel/kernel.h"

#include "kernel/inbound.h"
#include "kernel/lock.h"
#include "kernel/mqueue.h"
#include "kernel/outside.h"
#include "kernel/segment.h"
#include "kernel/socket.h"
#include "kernel/tty.h"
#include "kernel/vfs/tmpfs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every list is initialised before anything can fail, so that kernel_free can
 * walk them. */
static void
kernel_init_lists(struct kernel *k)
{
    list_init(&k->tasks);
    for (int i = 0; i < PID_BUCKETS; i++)
        list_init(&k->pids[i]);
    for (int i = 0; i < FUTEX_BUCKETS; i++)
        list_init(&k->futexes[i]);
    list_init(&k->run_queue);
    list_init(&k->background);
    list_init(&k->dead_threads);
    list_init(&k->reap_list);
    list_init(&k->ending);
    list_init(&k->host_watches);
    list_init(&k->inbounds);
    list_init(&k->fifos);
    list_init(&k->segments);
    list_init(&k->ttys);
    list_init(&k->mqueues);
}

static void
kernel_init_limits(struct kernel *k, const uint64_t *max)
{
    limits_init(&k->limits);
    if (max)
        memcpy(k->limits.max, max, sizeof k->limits.max);
}

/* Keeps a clone of the files that the host provided. If the root is not in
 * memory, no file counts as given. */
static int
kernel_note_given(struct kernel *k, const struct kernel_options *o,
                  struct fs *root)
{
    const struct tree *t = o->given;

    k->given = calloc(1, sizeof *k->given);
    if (!k->given)
        return -ENOMEM;
    if (!t && tmpfs_is(root))
        t = tmpfs_tree(root);
    return t ? tree_clone(t, k->given) : 0;
}

/* Gives the root its seed for the hash of names, unless it is a copy, which has
 * one. With a seed of the user, the numbers that guests get stay the same: a
 * generator of its own provides this one. */
static void
kernel_seed_names(struct kernel *k, const struct kernel_options *o,
                  struct fs *root)
{
    struct tree *t = tmpfs_is(root) ? tmpfs_tree(root) : NULL;
    struct rng own, *rng = &k->rng;

    if (!t || t->seed)
        return;
    if (o->is_deterministic) {
        rng = &own;
        rng_init(rng, k->host, true, ~o->seed);
    }
    rng_fill(rng, &t->seed, sizeof t->seed);
    t->seed |= 1; /* 0 means none */
}

/* From the first mount on, kernel_free can free everything, also on failure. */
int
kernel_new(const struct kernel_options *o, OWN struct fs *root,
           OWN struct kernel **ret)
{
    struct kernel *k = calloc(1, sizeof *k);

    if (k)
        k->copies = malloc(sizeof *k->copies);
    if (!k || !k->copies || kernel_note_given(k, o, root) < 0) {
        if (k) {
            free(k->copies);
            free(k->given);
        }
        free(k);
        root->ops->free(root);
        return -ENOMEM;
    }
    kernel_init_lists(k);
    k->user = cred_of(o->is_root ? ROOT_ID : USER_ID);
    k->machine = o->machine;
    k->engine = o->engine;
    k->image_file = o->image_file;
    k->allow_tools = o->allow_tools;
    kernel_init_limits(k, o->limits);
    k->host = o->host;
    clock_init(&k->clock, k->host, o->is_deterministic, o->start_ns);
    rng_init(&k->rng, k->host, o->is_deterministic, o->seed);
    strncpy(k->hostname, o->hostname ? o->hostname : "sandbox",
            sizeof k->hostname - 1);
    kernel_seed_names(k, o, root);
    vfs_init(&k->vfs, &kernel_vfs_hooks, &k->user);
    root->vfs = &k->vfs;
    root->dev = ++k->vfs.next_dev;
    k->kick_hfd = k->host->bell_new();
    int r = k->kick_hfd < 0 ? k->kick_hfd : 0;
    if (r < 0)
        root->ops->free(root);
    else
        r = mount_add(&k->vfs, "/", "root", root, false);
    if (r == 0)
        r = task_new(k, NULL, &k->init);
    if (r == 0 && o->outside)
        r = outside_new(k, o->outside, o->outside_arg, &k->outside);
    if (r < 0) {
        kernel_free(k);
        return r;
    }
    *ret = k;
    return 0;
}

/* Init has no program; its children are all processes that are left. */
static bool
kernel_has_no_tasks(void *arg)
{
    struct kernel *k = arg;

    return list_is_empty(&k->init->children);
}

/* on_kick could start a process that nobody kills, and this would wait for it
 * for ever. It is therefore held back, and called afterwards. */
void
kernel_end_all(struct kernel *k)
{
    void (*on_kick)(void *arg) = STEAL(k->on_kick);

    kernel_kill(k, 0, SIGKILL);
    LIST_FOR_EACH(it, &k->tasks)
        CONTAINER_OF(it, struct task, link)->is_host_child = false;
    LIST_FOR_EACH_SAFE(it, &k->init->children) {
        struct task *t = CONTAINER_OF(it, struct task, sibling);
        if (t->is_zombie && !t->thread && list_is_empty(&t->reap))
            list_push_back(&k->reap_list, &t->reap);
    }
    (void)kernel_run(k, kernel_has_no_tasks, k, NS_NEVER);
    segments_free(k);
    k->on_kick = on_kick;
    kernel_poke(k);
    k->last_pid = k->init->pid;
    k->has_wrapped_pids = false;
}

/* Tasks go first: they hold everything else. Sockets and locks must be gone
 * before the file systems that they are in. */
void
kernel_free(OWN struct kernel *k)
{
    if (!k)
        return;
    if (k->init) {
        kernel_end_all(k);
        task_exit(k->init, 0);
        task_reap(k->init);
    }
    mqueues_fini(&k->mqueues);
    inbound_free_all(k);
    net_free(k->net);
    outside_free(k->outside);
    free(k->denials);
    locks_free(k->locks);
    mount_free_all(&k->vfs);
    if (k->given)
        tree_fini(k->given);
    free(k->given);
    clock_fini(&k->clock);
    free(k->pollfds);
    free(k->copies);
    k->host->bell_free(k->kick_hfd);
    free(k);
}

/* --- root processes */

/* The files are consumed in any case. After the first failure the rest is only
 * put. */
static int
kernel_install_stdio(struct task *t, struct spawn *s)
{
    int r = 0;

    for (int i = 0; i < SPAWN_FILES; i++) {
        struct file *f = STEAL(s->stdio[i]);
        if (!f)
            continue;
        if (r < 0)
            file_put(f);
        else
            r = fd_replace(t, i, f, false);
    }
    return r < 0 ? r : 0;
}

static int
kernel_enter_cwd(struct task *t, const struct spawn *s)
{
    struct walk w;

    if (!s->cwd) {
        if (s->folder)
            task_set_cwd(t, s->folder, s->folder, "");
        return 0;
    }
    int r = task_walk(t, &t->cwd, s->cwd, WALK_DIRECTORY, &w);
    if (r < 0)
        return r;
    task_set_cwd(t, &w.node, &w.dir, w.name);
    return 0;
}

/* The new root must be the root of a mount: the path below it can then be
 * computed without looking outside. */
static int
kernel_enter_root(struct task *t, const char *path)
{
    struct walk w;

    int r = task_walk(t, &t->as.root, path, WALK_DIRECTORY, &w);
    if (r < 0)
        return r;
    if (w.node.ino != w.node.mnt->root)
        return -EINVAL;
    vnode_hold(&w.node);
    vnode_release(&t->as.root);
    t->as.root = w.node;
    task_set_cwd(t, &w.node, &w.dir, w.name);
    return 0;
}

static int
kernel_enter_folders(struct task *t, struct spawn *s)
{
    s->culprit = s->root;
    int r = s->root ? kernel_enter_root(t, s->root) : 0;
    if (r < 0)
        return r;
    s->culprit = s->cwd;
    return kernel_enter_cwd(t, s);
}

/* Without a root of its own, the process enters its folder before the program
 * is found, which may be relative to it. With one, the program is found first:
 * it is outside of that root. */
static int
kernel_start_program(struct task *t, struct spawn *s, char *why,
                     size_t why_size)
{
    struct exec e = {.path = s->path,
                     .base = &t->cwd,
                     .argv = s->argv,
                     .envp = s->envp,
                     .why = why,
                     .why_size = why_size};
    struct program *p;
    struct thread *th;

    int r = s->root ? 0 : kernel_enter_folders(t, s);
    if (r < 0)
        return r;
    s->culprit = s->path;
    r = task_exec_prepare(t, &e, &p);
    if (r == -EINPROGRESS)
        s->program = p;
    if (r < 0)
        return r;
    r = s->root ? kernel_enter_folders(t, s) : 0;
    if (r < 0) {
        program_put(p);
        return r;
    }
    s->culprit = s->path;
    task_exec_commit(t);
    r = thread_new(t, p, &th);
    if (r < 0)
        return r;
    if (s->ctty)
        r = tty_set_session(s->ctty, t);
    sched_queue(th);
    return r;
}

/* The task exists before anything can fail, so that one path undoes
 * everything. */
int
kernel_spawn(struct kernel *k, struct spawn *s, char *why, size_t why_size)
{
    struct task *t;

    s->culprit = s->path;
    if (why_size)
        why[0] = 0;
    int r = task_new(k, k->init, &t);
    if (r < 0) {
        for (int i = 0; i < SPAWN_FILES; i++)
            file_put(STEAL(s->stdio[i]));
        return r;
    }
    t->is_host_child = true;
    t->pgid = t->pid;
    if (s->ctty)
        t->sid = t->pid;
    if (s->cred)
        t->as.cred = *s->cred;
    t->run_tag = s->tag ? s->tag : k->run_tag;
    r = kernel_install_stdio(t, s);
    if (r == 0)
        r = kernel_start_program(t, s, why, why_size);
    if (r < 0) {
        task_free_threads(t);
        task_exit(t, 0);
        task_reap(t);
        return r;
    }
    return t->pid;
}

uint64_t
kernel_new_tag(struct kernel *k)
{
    return ++k->last_tag | TAG_BESIDE;
}

/* Limits are counted anew for each run, but processes that are left keep their
 * charge. */
void
kernel_begin_run(struct kernel *k)
{
    k->run_tag = ++k->last_tag;
    k->started = NULL;
    k->run_is_open = true;
    k->run_was_refused = false;
    k->run_cpu_ns = k->cpu_ns;
    k->was_denied = false;
    free(k->denials);
    k->denials = NULL;
    limits_mark(&k->limits);
}

/* A run that was refused memory or a process is broken, and its rest would only
 * hold on to what the next run needs. */
void
kernel_end_run(struct kernel *k)
{
    k->run_is_open = false;
    if (k->run_was_refused)
        kernel_kill(k, k->run_tag, SIGKILL);
}

/* A run that is left in the background is killed when it reaches its limit:
 * nobody waits for it, and the current run needs the space. */
bool
kernel_charge(const struct task *t, enum limit_id id, uint64_t n)
{
    struct kernel *k = t->kernel;
    struct limits *l = &k->limits;
    bool is_current = t->run_tag == k->run_tag && k->run_is_open;
    bool is_left = t->run_tag && !is_current && !(t->run_tag & TAG_BESIDE);
    uint64_t spare = is_left ? l->max[id] / 8 : 0;

    if (limits_fit(l, id, n + spare))
        return limits_charge(l, id, n);
    l->was_hit[id] |= !is_left;
    k->run_was_refused |= is_current;
    if (is_left)
        kernel_kill(k, t->run_tag, SIGKILL);
    return false;
}

void
kernel_deny(struct kernel *k, const struct task *t)
{
    k->was_denied |= t && t->run_tag == k->run_tag;
}

/* Sending a signal may end tasks but never frees one, so the loop is safe. */
void
kernel_kill(struct kernel *k, uint64_t tag, int sig)
{
    struct siginfo_k si = {.signo = sig, .code = SI_KERNEL};

    LIST_FOR_EACH_SAFE(it, &k->tasks) {
        struct task *t = CONTAINER_OF(it, struct task, link);
        if (t != k->init && (!tag || t->run_tag == tag))
            (void)signal_send(t, &si);
    }
}

/* A zombie whose thread was not freed yet has not released its memory. */
int
kernel_reap(struct kernel *k, int pid, int *ret_status)
{
    struct task *t = task_find(k, pid);

    if (!t || !t->is_host_child)
        return -ECHILD;
    if (!t->is_zombie || t->thread)
        return -EAGAIN;
    *ret_status = t->exit_status;
    task_reap(t);
    return 0;
}

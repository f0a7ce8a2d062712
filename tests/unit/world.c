/* A kernel for unit tests, and processes in it. */
#include "world.h"

#include "host/native.h"
#include "kernel/devfs.h"
#include "kernel/proc/procfs.h"
#include "kernel/shmfs.h"
#include "kernel/tty.h"
#include "kernel/vfs/tmpfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static struct kernel *
new_kernel(const struct kernel_options *o)
{
    struct attr a = {.mode = S_IFDIR | 0777, .uid = 1000, .gid = 1000};
    struct kernel *k = NULL;
    struct fs *root;

    if (tmpfs_new(NULL, NULL, 4 << 20, 1000, &root) < 0)
        return NULL;
    if (root->change->setattr(root, root->root, &a,
                              ATTR_MODE | ATTR_UID | ATTR_GID) < 0) {
        root->ops->free(root);
        return NULL;
    }
    return kernel_new(o, root, &k) < 0 ? NULL : k;
}

struct kernel *
world_new(void)
{
    return world_new_on(NULL);
}

struct kernel *
world_new_on(struct engine *e)
{
    const struct kernel_options o = {.host = &host_native,
                                     .machine = &fake_ops,
                                     .engine = e,
                                     .is_deterministic = true,
                                     .start_ns = 1000 * NS_PER_S};

    return new_kernel(&o);
}

struct kernel *
world_new_live(struct engine *e)
{
    const struct kernel_options o = {
        .host = &host_native, .machine = &fake_ops, .engine = e};

    return new_kernel(&o);
}

int
world_mount(struct kernel *k, const char *path, OWN struct fs *fs)
{
    return mount_add(&k->vfs, path, fs->ops->name, fs, false);
}

int
world_mount_system(struct kernel *k)
{
    struct fs *fs;

    int r = devfs_new(k, &fs);
    if (r == 0)
        r = world_mount(k, "/dev", fs);
    if (r == 0)
        r = shmfs_mount(k, NULL);
    if (r == 0)
        r = procfs_new(k, &fs);
    return r < 0 ? r : world_mount(k, "/proc", fs);
}

struct vnode
world_root(struct kernel *k)
{
    struct mount *m = mount_root(&k->vfs);

    return (struct vnode){m, m->fs->root};
}

/* --- tasks */

struct task *
world_child(struct kernel *k, struct task *parent)
{
    struct program *p = fake_program_new();
    struct thread *th;
    struct task *t;

    if (!p)
        return NULL;
    if (task_new(k, parent ? parent : k->init, &t) < 0) {
        program_put(p);
        return NULL;
    }
    if (thread_new(t, p, &th) == 0)
        return t;
    task_exit(t, 0);
    task_reap(t);
    return NULL;
}

struct task *
world_task(struct kernel *k)
{
    return world_child(k, NULL);
}

void
world_setsid(struct task *t)
{
    t->sid = t->pgid = t->pid;
    tty_put(STEAL(t->ctty));
}

static bool
counts_down(void *arg)
{
    int *left = arg;

    return (*left)-- <= 0;
}

void
world_run(struct kernel *k)
{
    int left = 0;

    LIST_FOR_EACH(it, &k->run_queue)
        left++;
    (void)kernel_run(k, counts_down, &left, NS_NEVER);
}

static bool
is_empty(void *arg)
{
    struct kernel *k = arg;

    return list_is_empty(&k->init->children);
}

void
world_run_all(struct kernel *k)
{
    (void)kernel_run(k, is_empty, k, NS_NEVER);
}

/* --- calls */

int32_t
world_call(struct task *t, uint32_t nr, const uint32_t args[6])
{
    struct kernel *k = t->kernel;
    struct thread *th = t->thread;

    k->running = th;
    int32_t r = thread_syscall(th, nr, args);
    if (r == -EWAIT)
        (void)thread_must_wait(th);
    k->running = NULL;
    if (th->leaving == LEAVE_EXIT && list_is_empty(&th->run_link))
        list_push_back(&k->dead_threads, &th->run_link);
    return r;
}

/* The words at the stack are zero: no function, no argument, no guard page. */
struct thread *
world_thread(struct task *t)
{
    const uint32_t flags =
        CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS;
    int tid = SYS(t, NR_clone, flags, FAKE_MEMORY_BYTES - 16);

    return tid > 0 ? thread_find(t, tid) : NULL;
}

bool
world_is_woken(const struct task *t)
{
    return t->thread->is_ready;
}

void *
world_at(struct task *t, gaddr at)
{
    return t->thread->machine->base + at;
}

gaddr
world_str(struct task *t, gaddr at, const char *s)
{
    strcpy(world_at(t, at), s);
    return at;
}

void
world_sleep_ns(struct kernel *k, int64_t ns)
{
    clock_jump(&k->clock, clock_mono_ns(&k->clock) + ns);
    clock_fire(&k->clock);
}

/* --- files */

int64_t
world_read(struct file *f, struct task *t, void *buf, size_t len)
{
    return f->ops->read(f, t, buf, len, f->has_pos ? &f->pos : NULL);
}

int64_t
world_write(struct file *f, struct task *t, const char *text)
{
    return f->ops->write(f, t, text, strlen(text), f->has_pos ? &f->pos : NULL);
}

bool
world_reads(struct file *f, struct task *t, const char *text)
{
    char buf[512];
    int64_t n = world_read(f, t, buf, sizeof buf);

    return n == (int64_t)strlen(text) && !memcmp(buf, text, (size_t)n);
}

static struct at
world_path(struct kernel *k, struct task *t, const struct vnode *base,
           const char *path)
{
    return (struct at){
        .vfs = &k->vfs, .as = t ? &t->as : NULL, .base = base, .path = path};
}

int
world_walk(struct kernel *k, struct task *t, const struct vnode *base,
           const char *path, unsigned flags, struct walk *ret)
{
    const struct at at = world_path(k, t, base, path);

    return path_walk(&at, flags, ret);
}

struct file *
world_open(struct kernel *k, struct task *t, const char *path, uint32_t flags,
           int *ret_error)
{
    struct vnode base = world_root(k);
    struct at at = world_path(k, t, &base, path);
    struct file *f = NULL;
    int r = vfs_open(&at, flags, 0644, &f);

    if (ret_error)
        *ret_error = r;
    return r < 0 ? NULL : f;
}

int
world_make(struct kernel *k, struct task *t, const char *path, uint32_t mode)
{
    struct vnode base = world_root(k);
    struct at at = world_path(k, t, &base, path);

    return vfs_make(&at, mode);
}

int
world_file(struct kernel *k, const char *path, const char *text)
{
    int r;
    struct file *f = world_open(k, NULL, path, O_WRONLY | O_CREAT, &r);

    if (!f)
        return r;
    struct attr a = {.mode = S_IFREG | 0755};
    int64_t n = world_write(f, NULL, text);
    r = vnode_setattr(NULL, &f->node, &a, ATTR_MODE, false);
    file_put(f);
    return n < 0 ? (int)n : r;
}

int
world_count_hfds(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        (void)closedir(d);
    return n;
}

uint64_t
world_memory(const struct kernel *k)
{
    return k->limits.used[LIMIT_memory] -
           k->limits.used[LIMIT_processes] * PROCESS_FEE_BYTES;
}

/* The kernel of unit tests. */
#include "fake.h"

#include "kernel/tty.h"
#include "kernel/vfs/tmpfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct fake_machine {
    struct machine machine;
    uint8_t memory[FAKE_MEMORY_BYTES];
};

static const struct machine_ops fake_ops;

static int
fake_create(struct engine *e, struct program *p, struct thread *th,
            OWN struct machine **ret)
{
    struct fake_machine *m = calloc(1, sizeof *m);

    (void)e;
    (void)p;
    if (!m)
        return -ENOMEM;
    m->machine = (struct machine){
        .ops = &fake_ops,
        .thread = th,
        .base = m->memory,
        .size = sizeof m->memory,
    };
    *ret = &m->machine;
    return 0;
}

static enum machine_event
fake_resume(struct machine *m, struct machine_trap *trap)
{
    (void)m;
    (void)trap;
    return MACHINE_WAITS;
}

static void
fake_refresh(struct machine *m)
{
    (void)m;
}

static void
fake_interrupt(struct engine *e)
{
    (void)e;
}

static void
fake_free(OWN struct machine *m)
{
    free(m);
}

static const struct machine_ops fake_ops = {
    .create = fake_create,
    .resume = fake_resume,
    .refresh = fake_refresh,
    .interrupt = fake_interrupt,
    .free = fake_free,
};

static void
fake_program_free(struct program *p)
{
    free(p);
}

struct kernel *
fake_kernel(void)
{
    struct kernel_options o = {.machine = &fake_ops, .is_deterministic = true};
    struct kernel *k = NULL;
    struct fs *root;

    if (tmpfs_new(NULL, NULL, 1 << 20, 1000, &root) < 0)
        return NULL;
    return kernel_new(&o, root, &k) < 0 ? NULL : k;
}

struct task *
fake_task(struct kernel *k, struct task *parent)
{
    struct program *p = calloc(1, sizeof *p);
    struct thread *th;
    struct task *t;

    if (!p)
        return NULL;
    *p = (struct program){.refs = 1, .free = fake_program_free};
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

void
fake_setsid(struct task *t)
{
    t->sid = t->pgid = t->pid;
    tty_put(STEAL(t->ctty));
}

int
fake_mount(struct kernel *k, const char *path, OWN struct fs *fs)
{
    return mount_add(k, path, fs->ops->name, fs, false);
}

void *
fake_memory(struct task *t, gaddr at)
{
    return t->thread->machine->base + at;
}

int64_t
fake_read(struct file *f, struct task *t, void *buf, size_t len)
{
    return f->ops->read(f, t, buf, len, f->has_pos ? &f->pos : NULL);
}

int64_t
fake_write(struct file *f, struct task *t, const char *text)
{
    return f->ops->write(f, t, text, strlen(text), f->has_pos ? &f->pos : NULL);
}

bool
fake_reads(struct file *f, struct task *t, const char *text)
{
    char buf[512];
    int64_t n = fake_read(f, t, buf, sizeof buf);

    return n == (int64_t)strlen(text) && !memcmp(buf, text, (size_t)n);
}

struct file *
fake_open(struct kernel *k, struct task *t, const char *path, uint32_t flags,
          int *ret_error)
{
    struct mount *root = CONTAINER_OF(k->mounts.next, struct mount, link);
    struct vnode base = {root, root->fs->root};
    struct file *f = NULL;
    int r = vfs_open(k, t, &base, path, flags, 0644, &f);

    if (ret_error)
        *ret_error = r;
    return r < 0 ? NULL : f;
}

int
fake_count_hfds(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        (void)closedir(d);
    return n;
}

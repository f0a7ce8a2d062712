/* A kernel with tasks on machines that never run. */
#include "world.h"

#include "kernel/vfs/tmpfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct machine_ops ops;

static int
machine_create(struct engine *e, struct program *p, struct thread *th,
               OWN struct machine **ret)
{
    struct machine *m = calloc(1, sizeof *m);

    (void)e;
    (void)p;
    if (!m)
        return -ENOMEM;
    m->ops = &ops;
    m->thread = th;
    m->base = calloc(1, WORLD_MEMORY_BYTES);
    m->size = WORLD_MEMORY_BYTES;
    *ret = m;
    return 0;
}

static void
machine_free(OWN struct machine *m)
{
    if (!m)
        return;
    free(m->base);
    free(m);
}

static void
machine_refresh(struct machine *m)
{
    (void)m;
}

static void
machine_interrupt(struct engine *e)
{
    (void)e;
}

static const struct machine_ops ops = {
    .create = machine_create,
    .free = machine_free,
    .refresh = machine_refresh,
    .interrupt = machine_interrupt,
};

static void
program_free(struct program *p)
{
    free(p);
}

struct kernel *
world_new(void)
{
    const struct kernel_options o = {
        .machine = &ops, .is_deterministic = true, .start_ns = 1000 * NS_PER_S};
    struct kernel *k = NULL;
    struct fs *root;

    if (tmpfs_new(NULL, NULL, 1 << 20, 1000, &root) < 0)
        return NULL;
    struct attr a = {.mode = S_IFDIR | 0777, .uid = 1000, .gid = 1000};
    (void)root->ops->setattr(root, root->root, &a,
                             ATTR_MODE | ATTR_UID | ATTR_GID);
    (void)kernel_new(&o, root, &k);
    return k;
}

struct task *
world_task(struct kernel *k)
{
    struct program *p = calloc(1, sizeof *p);
    struct thread *th;
    struct task *t;

    p->refs = 1;
    p->free = program_free;
    if (task_new(k, k->init, &t) < 0 || thread_new(t, p, &th) < 0)
        abort();
    return t;
}

int32_t
world_call(struct task *t, uint32_t nr, const uint32_t args[6])
{
    struct kernel *k = t->kernel;

    k->running = t->thread;
    int32_t r = thread_syscall(t->thread, nr, args);
    if (r == -EWAIT)
        (void)thread_must_wait(t->thread);
    k->running = NULL;
    return r;
}

bool
world_is_woken(const struct task *t)
{
    return t->thread->is_ready;
}

void *
world_at(struct task *t, uint32_t at)
{
    return t->thread->machine->base + at;
}

void
world_sleep_ns(struct kernel *k, int64_t ns)
{
    clock_jump(&k->clock, clock_mono_ns(&k->clock) + ns);
    clock_fire(&k->clock);
}

/* An engine whose programs are C functions. */
#include "fake_machine.h"

#include "kernel/task.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void
fake_program_free(struct counted *p)
{
    free(p);
}

OWN struct program *
fake_program_new(void)
{
    struct program *p = calloc(1, sizeof *p);

    if (p)
        *p = (struct program){{1, fake_program_free}, -1};
    return p;
}

/* A program that is being compiled until compile_hfd is readable. */
struct fake_compiling {
    struct program base;
    struct engine *engine;
};

static void
fake_compiling_free(struct counted *p)
{
    ((struct fake_compiling *)p)->engine->compilings--;
    free(p);
}

static int
fake_compile(struct engine *e, OWN struct program **ret)
{
    struct fake_compiling *c = calloc(1, sizeof *c);

    if (!c)
        return -ENOMEM;
    *c = (struct fake_compiling){{{1, fake_compiling_free}, e->compile_hfd}, e};
    e->compilings++;
    *ret = &c->base;
    return -EINPROGRESS;
}

static bool
is_readable(int hfd)
{
    struct pollfd p = {.fd = hfd, .events = POLLIN};

    return poll(&p, 1, 0) == 1;
}

static int64_t
fake_cost_ns(struct program *p)
{
    return ((struct fake_compiling *)p)->engine->compile_ns;
}

struct fake_machine *
fake_of(const struct thread *th)
{
    return (struct fake_machine *)th->machine;
}

static int
fake_load(struct engine *e, const struct program_source *src,
          OWN struct program **ret, char *why, size_t why_size)
{
    const size_t len = sizeof FAKE_PROGRAM - 1;

    if (e)
        e->loads++;
    if (src->len < len || memcmp(src->bytes, FAKE_PROGRAM, len) != 0) {
        snprintf(why, why_size, "%s: not a program", src->name);
        return -ENOEXEC;
    }
    if (e && e->compile_hfd && !is_readable(e->compile_hfd))
        return fake_compile(e, ret);
    struct program *p = fake_program_new();
    if (!p)
        return -ENOMEM;
    *ret = p;
    return 0;
}

/* Memory of whole pages, over which shared memory can be mapped. */
static uint8_t *
fake_memory_new(uint64_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static void
fake_memory_free(uint8_t *p, uint64_t size)
{
    if (p)
        munmap(p, size);
}

static int
fake_create(struct engine *e, struct program *p, struct thread *th,
            OWN struct machine **ret)
{
    struct fake_machine *m = calloc(1, sizeof *m);
    uint64_t size = e && e->memory_bytes ? e->memory_bytes : FAKE_MEMORY_BYTES;
    uint8_t *memory = m ? fake_memory_new(size) : NULL;
    unsigned *n_sharing = memory ? malloc(sizeof *n_sharing) : NULL;

    (void)p;
    if (!n_sharing || (e && !thread_may_grow(th, 0, size))) {
        free(n_sharing);
        fake_memory_free(memory, size);
        free(m);
        return -ENOMEM;
    }
    *n_sharing = 1;
    *m = (struct fake_machine){.engine = e,
                               .run = e ? e->run : NULL,
                               .arg = e ? e->arg : NULL,
                               .n_sharing = n_sharing};
    m->machine = (struct machine){
        .ops = &fake_ops, .thread = th, .base = memory, .size = size};
    *ret = &m->machine;
    return 0;
}

/* The new machine shares the memory, and runs the same function. */
static int
fake_spawn(struct machine *base, struct thread *th,
           const struct machine_entry *entry, OWN struct machine **ret)
{
    struct fake_machine *by = (struct fake_machine *)base;

    (void)entry;
    if (by->engine && by->engine->spawn_fails)
        return -EAGAIN;
    struct fake_machine *m = malloc(sizeof *m);
    if (!m)
        return -ENOMEM;
    *m = *by;
    m->machine.thread = th;
    m->slices = 0;
    ++*m->n_sharing;
    *ret = &m->machine;
    return 0;
}

static enum machine_event
fake_resume(struct machine *base, struct machine_trap *trap)
{
    struct fake_machine *m = (struct fake_machine *)base;

    m->slices++;
    return m->run ? m->run(m, trap) : MACHINE_WAITS;
}

static int
fake_grow(struct machine *m, uint64_t size)
{
    return size <= m->size ? 0 : -ENOMEM;
}

static int
fake_share_new(struct engine *e, uint64_t len, uint8_t **ret)
{
    void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return -ENOMEM;
    *ret = p;
    if (e)
        e->share_bytes += len;
    return 0;
}

static void
fake_share_free(struct engine *e, uint8_t *bytes, uint64_t len)
{
    munmap(bytes, len);
    if (e)
        e->share_bytes -= len;
}

static int
fake_share(struct machine *m, const struct machine_share *s, int more)
{
    struct engine *e = ((struct fake_machine *)m)->engine;
    uint8_t *to = m->base + s->at;
    void *p;

    if (e && e->share_fails)
        return -ENOMEM;
    ((struct fake_machine *)m)->shares += more;
    if (s->bytes)
        p = mremap(s->bytes, 0, s->len, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    else
        p = mmap(to, s->len, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return p == to ? 0 : -ENOMEM;
}

static int
fake_fault(struct machine *base, uint32_t stack)
{
    struct fake_machine *m = (struct fake_machine *)base;

    m->faults++;
    m->fault_stack = stack;
    return 0;
}

static int
fake_fork(struct machine *parent, struct machine *child)
{
    struct fake_machine *from = (struct fake_machine *)parent;
    struct fake_machine *to = (struct fake_machine *)child;

    if (from->engine && from->engine->fork_fails)
        return -ENOMEM;
    memcpy(child->base, parent->base, parent->size);
    struct machine_share s;
    for (uint64_t at = 0; thread_next_share(parent->thread, at, &s);
         at = s.at + s.len)
        (void)fake_share(child, &s, 1);
    to->run = from->run;
    to->arg = from->arg;
    to->slices = from->slices;
    memcpy(to->words, from->words, sizeof to->words);
    return 0;
}

static void
fake_fork_return(struct machine *m, int32_t result)
{
    ((struct fake_machine *)m)->fork_result = result;
}

static void
fake_refresh(struct machine *m)
{
    const struct engine *e = ((struct fake_machine *)m)->engine;

    m->size = e && e->memory_bytes ? e->memory_bytes : FAKE_MEMORY_BYTES;
}

static void
fake_interrupt(struct engine *e)
{
    if (e)
        e->interrupts++;
}

static uint64_t
fake_stack_bytes(struct machine *m)
{
    return ((struct fake_machine *)m)->stack_bytes;
}

static void
fake_free(OWN struct machine *m)
{
    if (!m)
        return;
    unsigned *n_sharing = ((struct fake_machine *)m)->n_sharing;
    if (--*n_sharing == 0) {
        fake_memory_free(m->base, m->size);
        free(n_sharing);
    }
    free(m);
}

const struct machine_ops fake_ops = {
    .load = fake_load,
    .cost_ns = fake_cost_ns,
    .create = fake_create,
    .spawn = fake_spawn,
    .resume = fake_resume,
    .fault = fake_fault,
    .fork = fake_fork,
    .fork_return = fake_fork_return,
    .refresh = fake_refresh,
    .interrupt = fake_interrupt,
    .grow = fake_grow,
    .share_new = fake_share_new,
    .share_free = fake_share_free,
    .share = fake_share,
    .stack_bytes = fake_stack_bytes,
    .free = fake_free,
};

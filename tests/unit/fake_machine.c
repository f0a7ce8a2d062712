/* An engine whose programs are C functions. */
#include "fake_machine.h"

#include "kernel/task.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int
fake_create(struct engine *e, struct program *p, struct thread *th,
            OWN struct machine **ret)
{
    struct fake_machine *m = calloc(1, sizeof *m);
    uint64_t size = e && e->memory_bytes ? e->memory_bytes : FAKE_MEMORY_BYTES;
    uint8_t *memory = m ? calloc(1, size) : NULL;

    (void)p;
    if (!memory || (e && !thread_may_grow(th, 0, size))) {
        free(memory);
        free(m);
        return -ENOMEM;
    }
    *m = (struct fake_machine){
        .engine = e, .run = e ? e->run : NULL, .arg = e ? e->arg : NULL};
    m->machine = (struct machine){
        .ops = &fake_ops, .thread = th, .base = memory, .size = size};
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
fake_fork(struct machine *parent, struct machine *child)
{
    struct fake_machine *from = (struct fake_machine *)parent;
    struct fake_machine *to = (struct fake_machine *)child;

    if (from->engine && from->engine->fork_fails)
        return -ENOMEM;
    memcpy(child->base, parent->base, parent->size);
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
    free(m->base);
    free(m);
}

const struct machine_ops fake_ops = {
    .load = fake_load,
    .cost_ns = fake_cost_ns,
    .create = fake_create,
    .resume = fake_resume,
    .fork = fake_fork,
    .fork_return = fake_fork_return,
    .refresh = fake_refresh,
    .interrupt = fake_interrupt,
    .stack_bytes = fake_stack_bytes,
    .free = fake_free,
};

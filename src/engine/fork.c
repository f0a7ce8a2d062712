/* fork of a program that Binaryen's asyncify has transformed.
 *
 * Problem: WebAssembly has no access to its own call stack, so the frames of a
 * running program cannot be copied.
 *
 * Idea: asyncify adds code to each function that can save its frame and restore
 * it. In sys.fork the program's state variable is set to "unwind": its frames
 * are written to a buffer in guest memory, and the entry returns. Now the whole
 * state is in memory and globals. The child is a new instance that gets the
 * pages in which its memory differs. With the state "rewind" the entry is
 * called again in both; the frames are rebuilt, and both continue from
 * sys.fork.
 *
 * Asyncify's variables are exported globals, which are set here, because a
 * store with a suspending import refuses plain calls of functions. Of the other
 * globals only the stack pointer and the address of the thread-local variables
 * are copied: C compilers create no others that change, nor do they change
 * function tables.
 *
 * The globals __asyncify_buffer and __asyncify_buffer_end name the buffer. A
 * program without them has its stack at the beginning of memory, and the free
 * part of it is the buffer. */
#include "engine/fork.h"

#include "engine/engine_impl.h"
#include "engine/machine_impl.h"
#include "engine/pagemap.h"

#include <errno.h>
#include <string.h>

enum asyncify_state { ASYNCIFY_NORMAL, ASYNCIFY_UNWIND, ASYNCIFY_REWIND };

#define PAGE_BYTES 4096u
#define LOW_BUFFER 16u
#define RED_ZONE   256u /* below the stack pointer: may be in use */

/* The part of guest memory that frames are unwound into. */
struct fork_buffer {
    uint32_t at, end;
    bool stack_is_first; /* in memory: what is below its pointer is free */
};

static struct fork_buffer
buffer_of(struct engine_machine *m)
{
    uint32_t sp = instance_get_u32(m->in, "__stack_pointer", 0);
    struct fork_buffer b = {
        .at = instance_get_u32(m->in, "__asyncify_buffer", 0),
        .end = instance_get_u32(m->in, "__asyncify_buffer_end", 0),
    };

    if (!b.at || b.end < b.at) {
        b.at = LOW_BUFFER;
        b.end = sp > RED_ZONE ? sp - RED_ZONE : 0;
        b.stack_is_first = true;
    } else {
        b.stack_is_first = b.at > sp;
    }
    return b;
}

/* Writes the head of the buffer: the next position to write to, and the end.
 * The globals are the guest's and may have any value, so they are checked
 * here. */
static bool
buffer_reset(struct engine_machine *m, const struct fork_buffer *b)
{
    const uint32_t head[2] = {b->at + sizeof head, b->end};

    machine_refresh(&m->base);
    if (b->end > m->base.size || b->end < b->at || b->end - b->at < sizeof head)
        return false;
    memcpy(m->base.base + b->at, head, sizeof head);
    return true;
}

int
fork_unwind(struct engine_machine *m)
{
    /* Not while the module starts: there is no entry to come back through. */
    if (!m->in->is_ready)
        return -ENOSYS;
    int r = thread_may_fork(m->base.thread);
    if (r < 0)
        return r;

    struct fork_buffer b = buffer_of(m);
    if (!buffer_reset(m, &b))
        return -ENOMEM;
    instance_set_u32(m->in, "__asyncify_data", b.at);
    instance_set_u32(m->in, "__asyncify_state", ASYNCIFY_UNWIND);
    m->fork = FORK_UNWINDS;
    m->in->forks = m;
    return 0;
}

void
fork_unwound(struct engine_machine *m)
{
    instance_set_u32(m->in, "__asyncify_state", ASYNCIFY_NORMAL);
    m->fork = FORK_DONE;
}

void
fork_rewind(struct engine_machine *m)
{
    instance_set_u32(m->in, "__asyncify_data", buffer_of(m).at);
    instance_set_u32(m->in, "__asyncify_state", ASYNCIFY_REWIND);
    m->fork = FORK_REWINDS;
}

int32_t
fork_rewound(struct engine_machine *m)
{
    instance_set_u32(m->in, "__asyncify_state", ASYNCIFY_NORMAL);
    m->fork = FORK_NO;
    m->in->forks = NULL;
    return m->fork_result;
}

void
machine_fork_return(struct machine *base, int32_t result)
{
    ((struct engine_machine *)base)->fork_result = result;
}

/* A page is written to only if it differs: a page of a new instance that was
 * never written to costs nothing, neither now nor when it is freed. Pages from
 * `fresh` on are known to be zero in the child, and are not even read there. */
static void
fork_copy_pages(uint8_t *to, const uint8_t *from, uint64_t at, uint64_t end,
                uint64_t fresh)
{
    static const uint8_t zero[PAGE_BYTES];

    for (; at < end; at += PAGE_BYTES)
        if (memcmp(from + at, at < fresh ? to + at : zero, PAGE_BYTES) != 0)
            memcpy(to + at, from + at, PAGE_BYTES);
}

/* Copies only the pages that the parent has written to, if the host reports
 * them. */
static void
fork_copy_written(struct engine_machine *c, const struct engine_machine *p,
                  uint64_t from, uint64_t to)
{
    const uint8_t *base = p->base.base, *at = base + from;
    uint64_t fresh = c->in->first_bytes;
    struct page_range v[PAGE_RANGES];

    while (at < base + to) {
        int n = pagemap_written(&p->engine->pagemap, &at, base + to, v);
        if (n < 0) {
            fork_copy_pages(c->base.base, base, (uint64_t)(at - base), to,
                            fresh);
            return;
        }
        for (int i = 0; i < n; i++)
            fork_copy_pages(c->base.base, base, v[i].start - (uintptr_t)base,
                            v[i].end - (uintptr_t)base, fresh);
    }
}

static uint64_t
fork_clamp(uint64_t x, uint64_t from, uint64_t to)
{
    return x < from ? from : x > to ? to : x;
}

/* Copies private memory: only written pages, except where a file is mapped. Its
 * pages do not count as written, but the child does not have the file. */
static void
fork_copy_private(struct engine_machine *c, const struct engine_machine *p,
                  uint64_t from, uint64_t to)
{
    uint64_t file = fork_clamp(p->in->mapped_from, from, to);
    uint64_t end = fork_clamp(p->in->mapped_to, from, to);

    fork_copy_written(c, p, from, file);
    fork_copy_pages(c->base.base, p->base.base, file, end, c->in->first_bytes);
    fork_copy_written(c, p, end, to);
}

/* Shared memory is mapped in the child too, the rest is copied. */
static int
fork_copy_memory(struct engine_machine *c, const struct engine_machine *p,
                 uint64_t at)
{
    struct machine_share s;

    for (; thread_next_share(p->base.thread, at, &s); at = s.at + s.len) {
        fork_copy_private(c, p, at, s.at);
        int r = instance_share(c->in, &s, 1);
        if (r < 0)
            return r;
    }
    fork_copy_private(c, p, at, p->base.size);
    return 0;
}

/* If the stack is first in memory, nothing below its pointer is live but the
 * frames in the buffer. */
int
machine_fork(struct machine *parent, struct machine *child)
{
    struct engine_machine *p = (struct engine_machine *)parent;
    struct engine_machine *c = (struct engine_machine *)child;
    int r;

    if (p->fork != FORK_DONE || c->in->store)
        return -EINVAL;
    r = machine_instantiate(c);
    if (r < 0)
        return r;
    uint64_t fresh = c->in->first_bytes;
    machine_refresh(parent);
    r = machine_grow(child, p->base.size);
    if (r < 0)
        return r;

    struct fork_buffer b = buffer_of(p);
    uint32_t sp = instance_get_u32(p->in, "__stack_pointer", 0);
    if (sp > p->base.size) /* set to anything, after it began to unwind */
        return -EFAULT;
    uint64_t from = b.stack_is_first ? sp & ~(PAGE_BYTES - 1) : 0;
    if (b.stack_is_first && b.at < from) {
        uint32_t used;
        memcpy(&used, p->base.base + b.at, sizeof used);
        fork_copy_pages(c->base.base, p->base.base, 0,
                        used < from ? used : from, fresh);
    }
    r = fork_copy_memory(c, p, from);
    if (r < 0)
        return r;
    instance_set_u32(c->in, "__stack_pointer", sp);
    if (p->program->has_tls)
        instance_set_u32(c->in, "__tls_base",
                         instance_get_u32(p->in, "__tls_base", 0));
    if (p->is_resumed)
        machine_enter_resume(c);
    else if (p->is_thread)
        (void)machine_enter_thread(c, p->args[0], p->args[1]);
    c->is_next = false;
    c->next_sp = p->next_sp;
    c->fork = FORK_DONE;
    c->fork_result = 0;
    return 0;
}

/* The host memory that native stacks use.
 *
 * A stack is touched from its top without gaps, because compiled code probes
 * each page of a large frame. Touched pages stay until the machine ends,
 * however far the stack has shrunk since. */
#include "engine/stack.h"

#include "engine/engine_impl.h"
#include "engine/machine_impl.h"
#include "engine/shim.h"

#include <sys/mman.h>
#include <unistd.h>

#define STEP_BYTES 65536u /* the first is part of the fee of a process */

static bool
stack_is_resident(uintptr_t page)
{
    unsigned char state = 0;
    void *p = (void *)page;

    return mincore(p, 1, &state) == 0 && (state & 1);
}

/* Some hosts say that all pages are. */
bool
stacks_can_tell(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return false;
    p[page] = 1;
    bool can_tell = page <= STEP_BYTES && !stack_is_resident((uintptr_t)p) &&
                    stack_is_resident((uintptr_t)p + page);
    (void)munmap(p, 2 * page);
    return can_tell;
}

/* Notes the bounds of m's stack, if m has run last of all in its instance:
 * wasmtime reports that stack only. */
static void
stack_find(struct engine_machine *m)
{
    if (m->in->current == m && m->in->store)
        m->stack_max = wsand_engine_last_stack(m->in->context, &m->stack_top);
}

/* Between two entries nothing on the stack is needed. */
static void
stack_trim(struct engine_machine *m)
{
    void *p = (void *)(m->stack_top - m->stack_bytes);

    if (madvise(p, m->stack_bytes - STEP_BYTES, MADV_DONTNEED) == 0)
        m->stack_bytes = STEP_BYTES;
}

uint64_t
machine_stack_bytes(struct machine *base)
{
    struct engine_machine *m = (struct engine_machine *)base;
    size_t page = m->engine->stack_page;

    if (!page)
        return 0;
    stack_find(m);
    if (!m->stack_max)
        return 0;
    if (!m->stack_bytes)
        m->stack_bytes = STEP_BYTES;
    while (m->stack_bytes + STEP_BYTES <= m->stack_max &&
           stack_is_resident(m->stack_top - m->stack_bytes - page))
        m->stack_bytes += STEP_BYTES;
    if (m->is_next && !m->future && m->stack_bytes > STEP_BYTES)
        stack_trim(m);
    return m->stack_bytes - STEP_BYTES;
}

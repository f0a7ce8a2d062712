/* Freezing: a program that has run up to sys.next becomes a module of its own.
 *
 * Problem: starting a shell takes milliseconds of initialisation, which is the
 * same every time.
 *
 * Idea: the state of a program at sys.next is its memory, its stack pointer and
 * nothing else: its frames are abandoned there. The memory becomes data
 * segments (consecutive pages that are not zero, without the dead part of the
 * stack). The stack pointer and the size of the memory become the initial ones.
 * All other sections are copied. Instances start in wasmsand_resume, and the
 * engine maps their untouched pages copy-on-write from one file.
 *
 * The source was accepted by the compiler before, so its form is mostly known.
 * The reader still checks every length, and gives up on what it does not
 * expect. */
#include "engine/freeze.h"

#include "base/buf.h"
#include "engine/machine_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum section {
    SECTION_CUSTOM = 0,
    SECTION_MEMORY = 5,
    SECTION_GLOBAL = 6,
    SECTION_EXPORT = 7,
    SECTION_DATA = 11,
    SECTION_DATA_COUNT = 12,
};

enum { PAGE = 4096, I32_CONST = 0x41, END = 0x0b, EXPORT_GLOBAL = 3 };

/* Maximum size of the new module; a frozen bash takes 3 MB. */
#define MODULE_BYTES_MAX (256u << 20)

/* A position in the source. `is_bad` is set by the first read beyond the
 * end. */
struct module_reader {
    const uint8_t *at, *end;
    bool is_bad;
};

static uint64_t
freeze_take_leb(struct module_reader *r)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        uint8_t byte = *r->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    r->is_bad = true;
    return 0;
}

static uint8_t
freeze_take_byte(struct module_reader *r)
{
    if (r->at < r->end)
        return *r->at++;
    r->is_bad = true;
    return 0;
}

static void
freeze_put_byte(struct buf *b, unsigned byte)
{
    uint8_t x = (uint8_t)byte;

    buf_add(b, &x, 1);
}

static void
freeze_put_uleb(struct buf *b, uint64_t v)
{
    do {
        freeze_put_byte(b, (v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        v >>= 7;
    } while (v);
}

/* Signed LEB128: the last byte has the sign in its bit 6. */
static void
freeze_put_sleb(struct buf *b, int64_t v)
{
    for (;;) {
        unsigned byte = v & 0x7f;
        v >>= 7;
        bool last = (v == 0 && !(byte & 0x40)) || (v == -1 && byte & 0x40);
        freeze_put_byte(b, byte | (last ? 0 : 0x80));
        if (last)
            return;
    }
}

static void
freeze_put_section(struct buf *out, unsigned id, const struct buf *body)
{
    freeze_put_byte(out, id);
    freeze_put_uleb(out, body->len);
    buf_add(out, body->p, body->len);
}

/* --- data */

/* Pages below the stack pointer are not part of the state. */
static bool
freeze_page_is_live(const struct engine_machine *m, uint64_t at, uint32_t sp)
{
    static const uint8_t zero[PAGE];

    return at + PAGE > sp && memcmp(m->base.base + at, zero, PAGE) != 0;
}

/* Appends the live pages and returns the number of segments. A zero page ends a
 * segment: it costs nothing in the new module. */
static uint32_t
freeze_put_segments(struct buf *out, const struct engine_machine *m,
                    uint32_t sp)
{
    uint32_t n = 0;

    for (uint64_t at = 0; at < m->base.size;) {
        uint64_t end = at;
        while (end < m->base.size && freeze_page_is_live(m, end, sp))
            end += PAGE;
        if (end > at) {
            freeze_put_byte(out, 0); /* active, memory 0 */
            freeze_put_byte(out, I32_CONST);
            freeze_put_sleb(out, (int32_t)at);
            freeze_put_byte(out, END);
            freeze_put_uleb(out, end - at);
            buf_add(out, m->base.base + at, end - at);
            n++;
        }
        at = end + PAGE;
    }
    return n;
}

/* --- the other sections */

/* The index of an exported global. */
static uint64_t
freeze_find_global(struct module_reader r, const char *name)
{
    size_t name_len = strlen(name);

    for (uint64_t n = freeze_take_leb(&r); n && !r.is_bad; n--) {
        uint64_t len = freeze_take_leb(&r);
        if (len > (uint64_t)(r.end - r.at))
            break;
        bool found = len == name_len && memcmp(r.at, name, name_len) == 0;
        r.at += len;
        uint8_t kind = freeze_take_byte(&r);
        uint64_t index = freeze_take_leb(&r);
        if (found && kind == EXPORT_GLOBAL)
            return index;
    }
    return UINT64_MAX;
}

static int
freeze_put_memory(struct buf *out, struct module_reader r, uint64_t bytes)
{
    CLEANUP(buf_fini) struct buf body = {.max = MODULE_BYTES_MAX};

    if (freeze_take_leb(&r) != 1)
        return -EINVAL;
    uint8_t flags = freeze_take_byte(&r);
    (void)freeze_take_leb(&r);
    if (r.is_bad)
        return -EINVAL;
    freeze_put_byte(&body, 1);
    freeze_put_byte(&body, flags);
    freeze_put_uleb(&body, bytes >> WASM_PAGE_SHIFT);
    buf_add(&body, r.at, (size_t)(r.end - r.at));
    freeze_put_section(out, SECTION_MEMORY, &body);
    return body.error;
}

/* A module that is being written. Two passes are made over the source: the
 * exports, which name the globals, come after the globals. */
struct freezing {
    struct engine_machine *m;
    struct buf *out;
    struct buf segments;
    uint32_t n_segments;
    uint64_t sp_index, tls_index; /* UINT64_MAX: none */
};

static uint32_t
freeze_value(const struct freezing *f, uint64_t index)
{
    return index == f->sp_index ? f->m->next_sp
                                : instance_get_u32(f->m->in, "__tls_base", 0);
}

/* Copies the globals and replaces the initial values of the stack pointer and
 * of the address of thread-local variables. All globals of C programs begin
 * with a constant i32; other programs are refused. */
static int
freeze_put_globals(const struct freezing *f, struct module_reader r)
{
    CLEANUP(buf_fini) struct buf body = {.max = MODULE_BYTES_MAX};
    uint64_t n = freeze_take_leb(&r);

    freeze_put_uleb(&body, n);
    for (uint64_t i = 0; i < n && !r.is_bad; i++) {
        const uint8_t *start = r.at;
        (void)freeze_take_byte(&r);
        (void)freeze_take_byte(&r);
        if (freeze_take_byte(&r) != I32_CONST)
            return -EINVAL;
        (void)freeze_take_leb(&r);
        if (freeze_take_byte(&r) != END)
            return -EINVAL;
        if (i != f->sp_index && i != f->tls_index) {
            buf_add(&body, start, (size_t)(r.at - start));
            continue;
        }
        buf_add(&body, start, 3);
        freeze_put_sleb(&body, (int32_t)freeze_value(f, i));
        freeze_put_byte(&body, END);
    }
    if (r.is_bad || f->sp_index >= n)
        return -EINVAL;
    freeze_put_section(f->out, SECTION_GLOBAL, &body);
    return body.error;
}

static int
freeze_put_data(struct freezing *f)
{
    CLEANUP(buf_fini) struct buf body = {.max = MODULE_BYTES_MAX};

    freeze_put_uleb(&body, f->n_segments);
    buf_add(&body, f->segments.p, f->segments.len);
    freeze_put_section(f->out, SECTION_DATA, &body);
    return body.error;
}

static int
freeze_put_data_count(struct freezing *f)
{
    CLEANUP(buf_fini) struct buf body = {.max = 16};

    freeze_put_uleb(&body, f->n_segments);
    freeze_put_section(f->out, SECTION_DATA_COUNT, &body);
    return body.error;
}

/* The number of segments is announced twice, in the data count section too.
 * Custom sections are names for debuggers, and are dropped. */
static int
freeze_rewrite(struct freezing *f, uint8_t id, const uint8_t *start,
               struct module_reader r)
{
    switch (id) {
    case SECTION_CUSTOM:
        return 0;
    case SECTION_MEMORY:
        return freeze_put_memory(f->out, r, f->m->base.size);
    case SECTION_GLOBAL:
        return freeze_put_globals(f, r);
    case SECTION_DATA_COUNT:
        return freeze_put_data_count(f);
    case SECTION_DATA:
        return freeze_put_data(f);
    default:
        buf_add(f->out, start, (size_t)(r.end - start));
        return 0;
    }
}

typedef int section_fn(struct freezing *f, uint8_t id, const uint8_t *start,
                       struct module_reader r);

static int
freeze_each_section(struct freezing *f, const struct program_source *src,
                    section_fn *fn)
{
    struct module_reader all = {src->bytes + 8, src->bytes + src->len, false};

    while (all.at < all.end) {
        const uint8_t *start = all.at;
        uint8_t id = freeze_take_byte(&all);
        uint64_t len = freeze_take_leb(&all);
        if (all.is_bad || len > (uint64_t)(all.end - all.at))
            return -EINVAL;
        int r = fn(f, id, start,
                   (struct module_reader){all.at, all.at + len, false});
        if (r < 0)
            return r;
        all.at += len;
    }
    return 0;
}

static int
freeze_look_at_exports(struct freezing *f, uint8_t id, const uint8_t *start,
                       struct module_reader r)
{
    (void)start;
    if (id == SECTION_EXPORT) {
        f->sp_index = freeze_find_global(r, "__stack_pointer");
        f->tls_index = f->m->program->has_tls
                           ? freeze_find_global(r, "__tls_base")
                           : UINT64_MAX;
    }
    return 0;
}

static void
freeze_put_frozen_section(struct buf *out, const void *section, size_t len)
{
    static const char name[] = FREEZE_SECTION;
    CLEANUP(buf_fini) struct buf body = {.max = MODULE_BYTES_MAX};

    freeze_put_uleb(&body, sizeof name - 1);
    buf_add(&body, name, sizeof name - 1);
    buf_add(&body, section, len);
    freeze_put_section(out, SECTION_CUSTOM, &body);
}

int
machine_freeze(struct machine *base, const struct program_source *src,
               const void *section, size_t section_len, OWN uint8_t **ret,
               size_t *ret_len)
{
    struct engine_machine *m = (struct engine_machine *)base;
    CLEANUP(buf_fini) struct buf out = {.max = MODULE_BYTES_MAX};
    struct freezing f = {
        .m = m, .out = &out, .sp_index = UINT64_MAX, .tls_index = UINT64_MAX};

    if (!m->is_next || src->len < 8)
        return -EINVAL;
    machine_refresh(base);
    f.segments.max = MODULE_BYTES_MAX;
    f.n_segments = freeze_put_segments(&f.segments, m, m->next_sp);
    int r = freeze_each_section(&f, src, freeze_look_at_exports);
    buf_add(&out, src->bytes, 8);
    if (r == 0)
        r = freeze_each_section(&f, src, freeze_rewrite);
    freeze_put_frozen_section(&out, section, section_len);
    if (r == 0 && (out.error || f.segments.error))
        r = -ENOMEM;
    buf_fini(&f.segments);
    if (r < 0)
        return r;
    *ret_len = out.len;
    *ret = (uint8_t *)buf_steal(&out);
    return 0;
}

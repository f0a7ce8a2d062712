/* Walks the sections of an untrusted WebAssembly binary, for properties that
 * wasmtime does not report. Lengths are checked against the end of the binary;
 * a malformed one is left to the compiler to reject. */
#include "engine/scan.h"

#include "engine/freeze.h"

#include <errno.h>
#include <string.h>

#define SECTION_CUSTOM   0
#define SECTION_IMPORT   2
#define SECTION_FUNCTION 3
#define SECTION_TABLE    4
#define SECTION_MEMORY   5
#define SECTION_START    8
#define SECTION_CODE     10

#define REF_NULL_TYPE 0x63 /* followed by what it refers to */
#define REF_TYPE      0x64

#define LIMITS_MAX    1 /* flags of limits: the maximum follows */
#define LIMITS_SHARED 2

struct scan_cursor {
    const uint8_t *at, *end;
};

/* Reads an unsigned number in LEB128, of at most five bytes. */
static int
scan_take_u32(struct scan_cursor *c, uint32_t *ret)
{
    uint32_t value = 0;

    for (unsigned shift = 0; shift < 35 && c->at < c->end; shift += 7) {
        uint8_t byte = *c->at++;
        value |= (uint32_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *ret = value;
            return 0;
        }
    }
    return -EINVAL;
}

/* Adds the local variables of a function, which are declared at the start of
 * its body. A few bytes can declare billions, and the compiler keeps something
 * for each. */
static int
scan_add_locals(struct scan_cursor body, uint64_t *ret)
{
    uint32_t groups, count;

    if (scan_take_u32(&body, &groups) < 0)
        return -EINVAL;
    for (; groups; groups--) {
        if (scan_take_u32(&body, &count) < 0 || body.at == body.end)
            return -EINVAL;
        *ret += count;
        if (*body.at++ == REF_TYPE || body.at[-1] == REF_NULL_TYPE)
            return 0; /* of a feature that is refused */
    }
    return 0;
}

/* The compiler takes time in proportion to the square of a function's size. */
static int
scan_add_costs(struct scan_cursor *code, struct wasm_facts *facts)
{
    uint32_t count, size;

    if (scan_take_u32(code, &count) < 0)
        return -EINVAL;
    for (; count; count--) {
        if (scan_take_u32(code, &size) < 0 ||
            size > (size_t)(code->end - code->at))
            return -EINVAL;
        if (scan_add_locals((struct scan_cursor){code->at, code->at + size},
                            &facts->locals) < 0)
            return -EINVAL;
        code->at += size;
        uint64_t cost = (uint64_t)size * size;
        facts->cost =
            facts->cost > UINT64_MAX - cost ? UINT64_MAX : facts->cost + cost;
    }
    return 0;
}

/* The type of a memory: flags and sizes. */
static int
scan_memory(struct scan_cursor *c, struct wasm_facts *facts)
{
    uint32_t flags, size;

    if (scan_take_u32(c, &flags) < 0 || scan_take_u32(c, &size) < 0 ||
        (flags & LIMITS_MAX && scan_take_u32(c, &size) < 0))
        return -EINVAL;
    facts->has_shared_memory |= flags & LIMITS_SHARED;
    return 0;
}

/* Only the first memory matters: programs have no second one. */
static void
scan_memories(struct scan_cursor c, struct wasm_facts *facts)
{
    uint32_t count;

    if (scan_take_u32(&c, &count) == 0 && count)
        (void)scan_memory(&c, facts);
}

/* An import has two names: of its module, and its own. */
static int
scan_skip_names(struct scan_cursor *c)
{
    uint32_t len;

    for (int i = 0; i < 2; i++) {
        if (scan_take_u32(c, &len) < 0 || len > (size_t)(c->end - c->at))
            return -EINVAL;
        c->at += len;
    }
    return 0;
}

/* Finds memories among the imports. The list is left at the first import that
 * is neither a function nor a memory: such a program is refused anyway. */
static void
scan_imports(struct scan_cursor c, struct wasm_facts *facts)
{
    enum { IMPORT_FUNCTION = 0, IMPORT_MEMORY = 2 };
    uint32_t count, type;

    if (scan_take_u32(&c, &count) < 0)
        return;
    for (; count; count--) {
        if (scan_skip_names(&c) < 0 || c.at == c.end)
            return;
        uint8_t kind = *c.at++;
        int r = kind == IMPORT_FUNCTION ? scan_take_u32(&c, &type)
                : kind == IMPORT_MEMORY ? scan_memory(&c, facts)
                                        : -EINVAL;
        if (r < 0)
            return;
    }
}

/* The content of a custom section of the name of frozen programs. */
static void
scan_find_frozen(struct scan_cursor c, struct wasm_facts *facts)
{
    static const char name[] = FREEZE_SECTION;
    uint32_t len;

    if (scan_take_u32(&c, &len) < 0 || len != sizeof name - 1 ||
        (size_t)(c.end - c.at) < len || memcmp(c.at, name, len) != 0)
        return;
    facts->section = c.at + len;
    facts->section_len = (size_t)(c.end - facts->section);
}

int
scan_module(const uint8_t *bytes, size_t len, struct wasm_facts *ret)
{
    struct wasm_facts facts = {0};
    struct scan_cursor c = {bytes + 8, bytes + len};

    while (c.at < c.end) {
        uint8_t id = *c.at++;
        uint32_t size;
        if (scan_take_u32(&c, &size) < 0 || size > (size_t)(c.end - c.at))
            return -EINVAL;
        struct scan_cursor section = {c.at, c.at + size};
        if (id == SECTION_CUSTOM)
            scan_find_frozen(section, &facts);
        if (id == SECTION_START)
            facts.has_start = true;
        if (id == SECTION_IMPORT)
            scan_imports(section, &facts);
        if (id == SECTION_MEMORY)
            scan_memories(section, &facts);
        if (id == SECTION_FUNCTION &&
            scan_take_u32(&section, &facts.functions) < 0)
            return -EINVAL;
        if (id == SECTION_TABLE && scan_take_u32(&section, &facts.tables) < 0)
            return -EINVAL;
        if (id == SECTION_CODE && scan_add_costs(&section, &facts) < 0)
            return -EINVAL;
        c.at += size;
    }
    *ret = facts;
    return 0;
}

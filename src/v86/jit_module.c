/* Sections of a module are accepted in the one form that the core generates. A
 * module has one function with a parameter i32 and the core's memory. It may
 * import functions of the core by their exact types. A reader that has failed
 * returns zeros from then on, so that a caller checks has_failed once, at the
 * end of a section, and loops over counts still end. */
#include "v86/jit_module.h"

#include "v86/core.h"

#include <string.h>

/* --- numbers --- */

uint8_t
jit_read_byte(struct jit_reader *r)
{
    if (r->p == r->end)
        r->has_failed = true;
    return r->has_failed ? 0 : *r->p++;
}

/* Returns `bits` bits. The unused bits of the last byte must be zero, or copies
 * of the sign if there is one. */
static uint64_t
jit_read_leb(struct jit_reader *r, unsigned bits, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = jit_read_byte(r);
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && shift < bits);

    if (is_signed && shift < 64 && byte & 0x40)
        value |= UINT64_MAX << shift;
    if (shift < bits)
        return value;

    /* The last byte has 7 bits, of which these are unused. */
    unsigned unused = shift - bits, top = byte & 0x7f;
    unsigned sign = is_signed ? top >> (6 - unused) & 1 : 0;
    unsigned want = sign ? (1u << unused) - 1 : 0;
    if (byte & 0x80 || top >> (7 - unused) != want)
        r->has_failed = true;
    return value;
}

uint32_t
jit_read_u32(struct jit_reader *r)
{
    return (uint32_t)jit_read_leb(r, 32, false);
}

int32_t
jit_read_i32(struct jit_reader *r)
{
    return (int32_t)jit_read_leb(r, 32, true);
}

int64_t
jit_read_i64(struct jit_reader *r)
{
    return (int64_t)jit_read_leb(r, 64, true);
}

char
jit_read_type(struct jit_reader *r)
{
    switch (jit_read_byte(r)) {
    case 0x7f:
        return 'i';
    case 0x7e:
        return 'l';
    case 0x7d:
        return 'f';
    case 0x7c:
        return 'd';
    default:
        r->has_failed = true;
        return 0;
    }
}

/* Returns the bytes of a string or section, and skips them. */
static struct jit_reader
jit_read_part(struct jit_reader *r)
{
    uint32_t len = jit_read_u32(r);

    if (len > (size_t)(r->end - r->p))
        r->has_failed = true;
    if (r->has_failed)
        return (struct jit_reader){r->end, r->end, true};
    r->p += len;
    return (struct jit_reader){r->p - len, r->p, false};
}

static bool
jit_part_is(const struct jit_reader *part, const char *text)
{
    size_t len = strlen(text);

    return (size_t)(part->end - part->p) == len && !memcmp(part->p, text, len);
}

/* --- sections --- */

static const char *
jit_parse_type(struct jit_module *m, struct jit_reader *r)
{
    struct jit_type *t = &m->types[m->type_count];

    if (jit_read_byte(r) != 0x60)
        return "a type that is not of a function";

    uint32_t params = jit_read_u32(r);
    if (params > JIT_PARAMS_MAX)
        return "a function with too many parameters";
    for (uint32_t i = 0; i < params; i++)
        t->params[i] = jit_read_type(r);

    uint32_t results = jit_read_u32(r);
    if (results > 1)
        return "a function with several results";
    t->result = results ? jit_read_type(r) : 'v';
    m->type_count++;
    return NULL;
}

static const char *
jit_parse_types(struct jit_module *m, struct jit_reader *r)
{
    uint32_t n = jit_read_u32(r);
    const char *why = NULL;

    if (n > JIT_TYPES_MAX)
        return "too many types";
    for (uint32_t i = 0; i < n && !why; i++)
        why = jit_parse_type(m, r);
    return why;
}

/* The memory is that of the core, which is far larger than any minimum that the
 * core has reason to declare. A maximum, or sharing, would be another type. */
static const char *
jit_parse_memory(struct jit_module *m, const struct jit_reader *name,
                 struct jit_reader *r)
{
    uint8_t flags = jit_read_byte(r);
    uint32_t min_pages = jit_read_u32(r);

    if (m->has_memory || flags || min_pages > 256 || !jit_part_is(name, "m"))
        return "a memory that is not the core's";
    m->has_memory = true;
    return NULL;
}

static const char *
jit_parse_function(struct jit_module *m, const struct jit_reader *name,
                   struct jit_reader *r, jit_find_symbol *find)
{
    const struct core_symbol *s =
        find((const char *)name->p, (size_t)(name->end - name->p));
    uint32_t type = jit_read_u32(r);

    if (!s)
        return "an imported function that the core does not have";
    if (type >= m->type_count ||
        strcmp(m->types[type].params, s->params) != 0 ||
        m->types[type].result != s->result)
        return "an imported function of another type";
    if (m->import_count == JIT_IMPORTS_MAX)
        return "too many imported functions";
    m->imports[m->import_count++] = s;
    return NULL;
}

static const char *
jit_parse_import(struct jit_module *m, struct jit_reader *r,
                 jit_find_symbol *find)
{
    struct jit_reader module = jit_read_part(r), name = jit_read_part(r);

    if (!jit_part_is(&module, "e"))
        return "an import from another module";
    switch (jit_read_byte(r)) {
    case 0:
        return jit_parse_function(m, &name, r, find);
    case 2:
        return jit_parse_memory(m, &name, r);
    default:
        return "an import of another kind";
    }
}

static const char *
jit_parse_imports(struct jit_module *m, struct jit_reader *r,
                  jit_find_symbol *find)
{
    uint32_t n = jit_read_u32(r);
    const char *why = NULL;

    for (uint32_t i = 0; i < n && !why && !r->has_failed; i++)
        why = jit_parse_import(m, r, find);
    return why;
}

static const char *
jit_parse_functions(const struct jit_module *m, struct jit_reader *r)
{
    uint32_t n = jit_read_u32(r), type = jit_read_u32(r);

    if (n != 1 || type >= m->type_count ||
        strcmp(m->types[type].params, "i") != 0 || m->types[type].result != 'v')
        return "functions other than one with a parameter i32";
    return NULL;
}

static const char *
jit_parse_exports(const struct jit_module *m, struct jit_reader *r)
{
    uint32_t n = jit_read_u32(r);
    struct jit_reader name = jit_read_part(r);
    uint8_t kind = jit_read_byte(r);
    uint32_t function = jit_read_u32(r);

    if (n != 1 || !jit_part_is(&name, "f") || kind != 0 ||
        function != m->import_count)
        return "exports other than the function";
    return NULL;
}

static const char *
jit_parse_code(struct jit_module *m, struct jit_reader *r)
{
    uint32_t n = jit_read_u32(r);

    m->body = jit_read_part(r);
    return n == 1 ? NULL : "code of several functions";
}

enum {
    JIT_SECTION_TYPE = 1,
    JIT_SECTION_IMPORT = 2,
    JIT_SECTION_FUNCTION = 3,
    JIT_SECTION_EXPORT = 7,
    JIT_SECTION_CODE = 10,
};

static const char *
jit_parse_section(struct jit_module *m, unsigned id, struct jit_reader *r,
                  jit_find_symbol *find)
{
    switch (id) {
    case JIT_SECTION_TYPE:
        return jit_parse_types(m, r);
    case JIT_SECTION_IMPORT:
        return jit_parse_imports(m, r, find);
    case JIT_SECTION_FUNCTION:
        return jit_parse_functions(m, r);
    case JIT_SECTION_EXPORT:
        return jit_parse_exports(m, r);
    default:
        return jit_parse_code(m, r);
    }
}

/* All five sections are there, in this order, and nothing behind them. */
const char *
jit_module_parse(struct jit_module *m, const uint8_t *wasm, size_t bytes,
                 jit_find_symbol *find)
{
    static const uint8_t head[] = {0, 'a', 's', 'm', 1, 0, 0, 0};
    static const uint8_t ids[] = {JIT_SECTION_TYPE, JIT_SECTION_IMPORT,
                                  JIT_SECTION_FUNCTION, JIT_SECTION_EXPORT,
                                  JIT_SECTION_CODE};

    *m = (struct jit_module){0};
    if (bytes > JIT_MODULE_BYTES_MAX)
        return "the module is too large";
    if (bytes < sizeof head || memcmp(wasm, head, sizeof head) != 0)
        return "not a module";

    struct jit_reader r = {wasm + sizeof head, wasm + bytes, false};
    for (size_t i = 0; i < sizeof ids; i++) {
        if (jit_read_byte(&r) != ids[i])
            return "other sections than expected";
        struct jit_reader section = jit_read_part(&r);
        const char *why = jit_parse_section(m, ids[i], &section, find);
        if (why)
            return why;
        if (r.has_failed || section.has_failed || section.p != section.end)
            return "a damaged section";
    }
    return r.p != r.end         ? "other sections than expected"
           : !m->has_memory     ? "no memory"
           : m->body.has_failed ? "a damaged section"
                                : NULL;
}

/* An assembler for the few instructions that the compiler uses.
 *
 * Code that is rarely executed (traps, slow paths) is in a section of its own,
 * so that hot code is dense in the instruction cache. The distance between two
 * sections is known only at the end. A distance to a label is therefore a
 * fixup of 32 bits, which x64_link resolves when it joins the sections.
 *
 * A failed allocation sets has_failed, and later calls do nothing: callers
 * check once, in x64_link. */
#include "v86/x64.h"

#include "base/vec.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A 32-bit distance to a label. `from` is the label where the distance begins,
 * or X64_FROM_HERE for the end of the field itself. */
struct x64_fixup {
    enum x64_section section;
    size_t offset;
    unsigned label, from;
};

enum { X64_FROM_HERE = UINT_MAX };

enum { X64_INSTRUCTION_MAX = 16, X64_SECTION_MIN = 4096 };

/* One instruction while it is put together. */
struct x64_code {
    uint8_t bytes[X64_INSTRUCTION_MAX];
    unsigned len;
};

void
x64_init(struct x64 *x)
{
    *x = (struct x64){0};
}

void
x64_fini(struct x64 *x)
{
    for (int i = 0; i < X64_SECTIONS; i++)
        free(x->sections[i].p);
    free(x->labels);
    free(x->fixups);
}

static bool
x64_grow(struct x64 *x, struct x64_bytes *s)
{
    size_t cap = s->cap ? 2 * s->cap : X64_SECTION_MIN;
    uint8_t *p = realloc(s->p, cap);

    if (!p) {
        x->has_failed = true;
        return false;
    }
    s->p = p;
    s->cap = cap;
    return true;
}

/* Copies the whole array, because a copy of constant size is faster. */
static void
x64_append(struct x64 *x, const struct x64_code *c)
{
    struct x64_bytes *s = &x->sections[x->at];

    if (x->has_failed || (s->cap - s->len < sizeof c->bytes && !x64_grow(x, s)))
        return;
    memcpy(s->p + s->len, c->bytes, sizeof c->bytes);
    s->len += c->len;
}

static void
x64_byte(struct x64_code *c, unsigned value)
{
    c->bytes[c->len++] = (uint8_t)value;
}

static void
x64_value(struct x64_code *c, uint64_t value, unsigned bytes)
{
    memcpy(c->bytes + c->len, &value, sizeof value);
    c->len += bytes;
}

static bool
x64_is_int8(int32_t value)
{
    return value == (int8_t)value;
}

/* The byte ModRM, and SIB and displacement if the operand is in memory. A base
 * RBP or R13 always has a displacement, and RSP or R12 always a SIB. */
static void
x64_encode_rm(struct x64_code *c, unsigned reg, const struct x64_rm *rm)
{
    unsigned base = rm->base & 7, mod;

    if (!rm->is_memory) {
        x64_byte(c, 0xc0 | (reg & 7) << 3 | base);
        return;
    }
    mod = rm->disp == 0 && base != X64_RBP ? 0 : x64_is_int8(rm->disp) ? 1 : 2;
    if (rm->index == X64_RSP && base != X64_RSP) {
        x64_byte(c, mod << 6 | (reg & 7) << 3 | base);
    } else {
        x64_byte(c, mod << 6 | (reg & 7) << 3 | X64_RSP);
        x64_byte(c, (unsigned)rm->scale << 6 | (rm->index & 7u) << 3 | base);
    }
    if (mod)
        x64_value(c, (uint32_t)rm->disp, mod == 1 ? 1 : 4);
}

static struct x64_code
x64_encode(unsigned op, unsigned flags, unsigned reg, const struct x64_rm *rm)
{
    struct x64_code c = {.len = 0};
    unsigned rex = (flags & X64_WIDE ? 8 : 0) | (reg >> 3) << 2 |
                   (rm->index >> 3) << 1 | rm->base >> 3;

    if (flags & X64_HALF)
        x64_byte(&c, 0x66);
    if (rex || flags & X64_BYTE)
        x64_byte(&c, 0x40 | rex);
    if (op > 0xff)
        x64_byte(&c, op >> 8);
    x64_byte(&c, op);
    x64_encode_rm(&c, reg, rm);
    return c;
}

void
x64_op(struct x64 *x, unsigned op, unsigned flags, unsigned reg,
       struct x64_rm rm)
{
    struct x64_code c = x64_encode(op, flags, reg, &rm);

    x64_append(x, &c);
}

/* As x64_op, with an immediate value behind it. */
static void
x64_op_value(struct x64 *x, unsigned op, unsigned flags, unsigned ext,
             const struct x64_rm *rm, int32_t value, unsigned bytes)
{
    struct x64_code c = x64_encode(op, flags, ext, rm);

    /* At most 2 prefixes, 2 opcodes, 6 of the operand, 4 of the value. */
    memcpy(c.bytes + c.len, &value, sizeof value);
    c.len += bytes;
    x64_append(x, &c);
}

void
x64_arith(struct x64 *x, enum x64_arith ext, unsigned flags, struct x64_rm rm,
          int32_t value)
{
    if (x64_is_int8(value))
        x64_op_value(x, 0x83, flags, ext, &rm, value, 1);
    else
        x64_op_value(x, 0x81, flags, ext, &rm, value, 4);
}

void
x64_test(struct x64 *x, unsigned reg, int32_t value)
{
    struct x64_rm rm = x64_reg(reg);

    if (value >= 0 && value < 128)
        x64_op_value(x, 0xf6, X64_BYTE, 0, &rm, value, 1);
    else
        x64_op_value(x, X64_GROUP3, 0, 0, &rm, value, 4);
}

void
x64_shift(struct x64 *x, enum x64_shift ext, unsigned flags, unsigned reg,
          unsigned count)
{
    struct x64_rm rm = x64_reg(reg);

    x64_op_value(x, 0xc1, flags, ext, &rm, (int32_t)count, 1);
}

void
x64_constant(struct x64 *x, unsigned reg, uint64_t value)
{
    struct x64_rm rm = x64_reg(reg);
    struct x64_code c = {.len = 0};

    if (value > UINT32_MAX && (int64_t)value == (int32_t)value) {
        x64_op_value(x, 0xc7, X64_WIDE, 0, &rm, (int32_t)value, 4);
        return;
    }
    bool is_wide = value > UINT32_MAX;
    if (is_wide || reg > 7)
        x64_byte(&c, 0x40 | (is_wide ? 8 : 0) | reg >> 3);
    x64_byte(&c, 0xb8 | (reg & 7));
    x64_value(&c, value, is_wide ? 8 : 4);
    x64_append(x, &c);
}

void
x64_store(struct x64 *x, unsigned bytes, struct x64_rm rm, int32_t value)
{
    unsigned flags = bytes == 8 ? X64_WIDE : bytes == 2 ? X64_HALF : 0;

    x64_op_value(x, bytes == 1 ? 0xc6 : 0xc7, flags, 0, &rm, value,
                 bytes == 8 ? 4 : bytes);
}

static void
x64_short(struct x64 *x, unsigned op, unsigned reg)
{
    struct x64_code c = {.len = 0};

    if (reg > 7)
        x64_byte(&c, 0x41);
    x64_byte(&c, op | (reg & 7));
    x64_append(x, &c);
}

void
x64_push(struct x64 *x, unsigned reg)
{
    x64_short(x, 0x50, reg);
}

void
x64_pop(struct x64 *x, unsigned reg)
{
    x64_short(x, 0x58, reg);
}

void
x64_return(struct x64 *x)
{
    x64_short(x, 0xc3, 0);
}

unsigned
x64_label(struct x64 *x)
{
    if (x->has_failed || x->label_count >= INT_MAX ||
        !VEC_ROOM(x->labels, x->label_count)) {
        x->has_failed = true;
        return 0;
    }
    x->labels[x->label_count] = (struct x64_label){.is_bound = false};
    return (unsigned)x->label_count++;
}

void
x64_bind(struct x64 *x, unsigned label)
{
    if (x->has_failed)
        return;
    x->labels[label] = (struct x64_label){true, x->at, x->sections[x->at].len};
}

/* The last four bytes of the section are a distance to the label. */
static void
x64_fix(struct x64 *x, unsigned label, unsigned from)
{
    if (x->has_failed)
        return;
    if (!VEC_ROOM(x->fixups, x->fixup_count)) {
        x->has_failed = true;
        return;
    }
    x->fixups[x->fixup_count++] = (struct x64_fixup){
        x->at, x->sections[x->at].len - sizeof(int32_t), label, from};
}

/* An instruction whose last four bytes are the distance to a label. */
static void
x64_relative(struct x64 *x, struct x64_code c, unsigned label)
{
    x64_value(&c, 0, 4);
    x64_append(x, &c);
    x64_fix(x, label, X64_FROM_HERE);
}

void
x64_jump(struct x64 *x, unsigned label)
{
    x64_relative(x, (struct x64_code){{0xe9}, 1}, label);
}

void
x64_jump_if(struct x64 *x, unsigned cc, unsigned label)
{
    x64_relative(x, (struct x64_code){{0x0f, (uint8_t)(0x80 | cc)}, 2}, label);
}

void
x64_jump_to(struct x64 *x, unsigned reg)
{
    x64_op(x, 0xff, 0, 4, x64_reg(reg));
}

void
x64_call(struct x64 *x, unsigned label)
{
    x64_relative(x, (struct x64_code){{0xff, 0x15}, 2}, label);
}

void
x64_address(struct x64 *x, unsigned reg, unsigned label)
{
    struct x64_code c = {{(uint8_t)(0x48 | (reg >> 3) << 2), X64_LEA,
                          (uint8_t)((reg & 7) << 3 | 5)},
                         3};

    x64_relative(x, c, label);
}

void
x64_data(struct x64 *x, uint64_t value)
{
    struct x64_code c = {.len = 0};

    x64_value(&c, value, sizeof value);
    x64_append(x, &c);
}

void
x64_distance(struct x64 *x, unsigned from, unsigned to)
{
    struct x64_code c = {.len = 0};

    x64_value(&c, 0, 4);
    x64_append(x, &c);
    x64_fix(x, to, from);
}

/* Returns the offset of a label in the piece, or SIZE_MAX. */
static size_t
x64_resolve(const struct x64 *x, const size_t *starts, unsigned label)
{
    const struct x64_label *l = &x->labels[label];

    return l->is_bound ? starts[l->section] + l->offset : SIZE_MAX;
}

static bool
x64_patch(const struct x64 *x, const size_t *starts,
          const struct x64_fixup *fixup, uint8_t *code)
{
    size_t at = starts[fixup->section] + fixup->offset;
    size_t to = x64_resolve(x, starts, fixup->label);
    size_t from = fixup->from == X64_FROM_HERE
                      ? at + sizeof(int32_t)
                      : x64_resolve(x, starts, fixup->from);

    if (to == SIZE_MAX || from == SIZE_MAX)
        return false;
    int32_t distance = (int32_t)(to - from);
    memcpy(code + at, &distance, sizeof distance);
    return true;
}

/* The piece is far below 2 GiB, because its sections come from a module of a
 * few MiB, so that each distance has 32 bits. */
int
x64_link(const struct x64 *x, OWN uint8_t **ret_code, size_t *ret_bytes)
{
    size_t starts[X64_SECTIONS], bytes = 0;

    if (x->has_failed)
        return -ENOMEM;
    for (int i = 0; i < X64_SECTIONS; i++) {
        starts[i] = bytes = (bytes + 7) & ~(size_t)7;
        bytes += x->sections[i].len;
    }
    if (bytes > INT32_MAX)
        return -ENOMEM;

    uint8_t *code = calloc(1, bytes + 1);
    if (!code)
        return -ENOMEM;
    for (int i = 0; i < X64_SECTIONS; i++)
        if (x->sections[i].len)
            memcpy(code + starts[i], x->sections[i].p, x->sections[i].len);
    for (size_t i = 0; i < x->fixup_count; i++) {
        if (!x64_patch(x, starts, &x->fixups[i], code)) {
            free(code);
            return -EINVAL;
        }
    }
    *ret_code = code;
    *ret_bytes = bytes;
    return 0;
}

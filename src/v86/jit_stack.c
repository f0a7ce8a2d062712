/* Operands and registers.
 *
 * Problem: WebAssembly is a stack machine. A translation that stored each
 * operand in memory would spend most of its instructions on moves.
 *
 * Idea: the stack exists at translation time only, as descriptions. A constant
 * or a local costs nothing when it is pushed; the instruction that pops it uses
 * it as an immediate value or as a register. Code is generated when a value is
 * computed, or when a description would become untrue.
 *
 * It is right because each such event has a function here. A local is assigned:
 * jit_detach saves the operands that mean its old value. A call changes the
 * temporary registers: jit_spill. Control flow joins: jit_flush brings all
 * operands to the place of their depth. Registers run out: jit_alloc spills the
 * lowest operand. */
#include "v86/jit_function.h"

#include <string.h>

enum { JIT_SET = 0x21, JIT_TEE = 0x22 };

struct x64_rm
jit_frame_instance(void)
{
    return x64_at(X64_RSP, 0);
}

struct x64_rm
jit_frame_local(unsigned local)
{
    return x64_at(X64_RSP, (int32_t)(8 * (1 + local)));
}

struct x64_rm
jit_frame_slot(const struct jit_function *f, unsigned depth)
{
    return jit_frame_local(f->local_count + depth);
}

/* The frame, six registers and the return address are a multiple of 16. */
int32_t
jit_frame_bytes(const struct jit_function *f)
{
    unsigned words = 1 + f->local_count + JIT_DEPTH_MAX;

    return (int32_t)(8 * (words | 1));
}

unsigned
jit_type_flags(char type)
{
    return type == 'l' || type == 'd' ? X64_WIDE : 0;
}

void
jit_push(struct jit_function *f, struct jit_value v)
{
    if (f->depth == JIT_DEPTH_MAX) {
        jit_refuse(f, "too many operands");
        return;
    }
    f->stack[f->depth++] = v;
}

void
jit_push_reg(struct jit_function *f, char type, unsigned reg)
{
    f->busy |= 1u << reg;
    jit_push(
        f, (struct jit_value){
               .kind = JIT_REG, .type = type, .reg = (uint8_t)reg, .bits = 64});
}

struct jit_value
jit_pop(struct jit_function *f)
{
    return f->stack[--f->depth];
}

struct jit_value
jit_pop_type(struct jit_function *f, char type)
{
    unsigned base = f->blocks[f->block_count - 1].base;
    struct jit_value v = {.kind = JIT_UNKNOWN, .type = type};

    if (f->depth > base)
        v = jit_pop(f);
    else if (!f->is_unreachable)
        jit_refuse(f, "an operand is missing");
    if (type && v.type && v.type != type)
        jit_refuse(f, "an operand of another type");
    return v;
}

void
jit_truncate(struct jit_function *f, unsigned depth)
{
    while (f->depth > depth) {
        struct jit_value v = jit_pop(f);
        if (v.kind == JIT_REG)
            jit_release(f, v.reg);
    }
}

static void
jit_spill_at(struct jit_function *f, unsigned depth)
{
    struct jit_value *v = &f->stack[depth];

    jit_save(f, depth, *v);
    if (v->kind == JIT_REG)
        jit_release(f, v->reg);
    v->kind = JIT_SLOT;
    v->number = depth;
}

/* Spills the operand that is used last, the lowest one. Instructions hold at
 * most four registers beside those of the stack, so one of these is found. */
unsigned
jit_alloc(struct jit_function *f)
{
    for (unsigned i = 0; !(JIT_TEMPS & ~f->busy); i++) {
        if (i == f->depth) {
            jit_refuse(f, "too few registers");
            return X64_RAX;
        }
        if (f->stack[i].kind == JIT_REG)
            jit_spill_at(f, i);
    }
    unsigned reg = (unsigned)__builtin_ctz(JIT_TEMPS & ~f->busy);
    f->busy |= 1u << reg;
    return reg;
}

void
jit_release(struct jit_function *f, unsigned reg)
{
    f->busy &= ~(1u << reg & JIT_TEMPS);
}

/* Returns the register that contains the value now, or X64_NO_REG. */
static unsigned
jit_reg_of(const struct jit_function *f, struct jit_value v)
{
    if (v.kind == JIT_REG)
        return v.reg;
    return v.kind == JIT_LOCAL ? f->local_regs[v.number] : X64_NO_REG;
}

static struct x64_rm
jit_home(const struct jit_function *f, struct jit_value v)
{
    return v.kind == JIT_LOCAL ? jit_frame_local((unsigned)v.number)
                               : jit_frame_slot(f, (unsigned)v.number);
}

void
jit_move(struct jit_function *f, unsigned reg, struct jit_value v)
{
    unsigned from = jit_reg_of(f, v), flags = jit_type_flags(v.type);

    if (v.kind == JIT_CONSTANT)
        x64_constant(&f->x, reg,
                     flags ? (uint64_t)v.number : (uint32_t)v.number);
    else if (from == X64_NO_REG)
        x64_op(&f->x, X64_MOV, flags, reg, jit_home(f, v));
    else if (from != reg)
        x64_op(&f->x, X64_MOV, flags, reg, x64_reg(from));
}

void
jit_save(struct jit_function *f, unsigned depth, struct jit_value v)
{
    unsigned from = jit_reg_of(f, v);

    if (v.kind == JIT_SLOT && v.number == depth)
        return;
    if (from == X64_NO_REG) {
        from = JIT_SCRATCH;
        jit_move(f, from, v);
    }
    x64_op(&f->x, X64_STORE, X64_WIDE, from, jit_frame_slot(f, depth));
}

unsigned
jit_read(struct jit_function *f, struct jit_value v)
{
    unsigned reg = jit_reg_of(f, v);

    if (reg != X64_NO_REG)
        return reg;
    reg = jit_alloc(f);
    jit_move(f, reg, v);
    return reg;
}

unsigned
jit_own(struct jit_function *f, struct jit_value v)
{
    if (v.kind == JIT_REG)
        return v.reg;

    unsigned reg = jit_alloc(f);
    jit_move(f, reg, v);
    return reg;
}

struct x64_rm
jit_operand(struct jit_function *f, struct jit_value v)
{
    if (v.kind != JIT_CONSTANT && jit_reg_of(f, v) == X64_NO_REG)
        return jit_home(f, v);
    return x64_reg(jit_read(f, v));
}

void
jit_spill(struct jit_function *f)
{
    for (unsigned i = 0; i < f->depth; i++)
        if (f->stack[i].kind == JIT_REG)
            jit_spill_at(f, i);
}

void
jit_flush(struct jit_function *f)
{
    for (unsigned i = 0; i < f->depth; i++)
        if (f->stack[i].kind == JIT_REG || f->stack[i].kind == JIT_LOCAL)
            jit_spill_at(f, i);
}

void
jit_detach(struct jit_function *f, unsigned local)
{
    for (unsigned i = 0; i < f->depth; i++)
        if (f->stack[i].kind == JIT_LOCAL && f->stack[i].number == local)
            jit_spill_at(f, i);
}

void
jit_unflag(struct jit_function *f)
{
    unsigned cc = (unsigned)jit_pop(f).number;
    unsigned reg = jit_alloc(f);

    x64_op(&f->x, X64_SET + cc, X64_BYTE, 0, x64_reg(reg));
    x64_op(&f->x, X64_MOVZX8, X64_BYTE, reg, x64_reg(reg));
    jit_result(f, 'i', reg, 1);
}

uint8_t
jit_next(const struct jit_function *f)
{
    return f->code.p < f->code.end ? *f->code.p : 0;
}

bool
jit_next_is_test(const struct jit_function *f)
{
    uint8_t next = jit_next(f);

    return next == 0x04 || next == 0x0d || next == 0x45; /* if, br_if, eqz */
}

/* Returns the local with a register that the next instruction sets to a value
 * of this type, or JIT_LOCALS_MAX. */
static unsigned
jit_next_local(const struct jit_function *f, char type)
{
    struct jit_reader r = f->code;
    uint8_t opcode = jit_read_byte(&r);

    if (opcode != JIT_SET && opcode != JIT_TEE)
        return JIT_LOCALS_MAX;

    uint32_t local = jit_read_u32(&r);
    bool is_fit = !r.has_failed && local < f->local_count &&
                  f->local_types[local] == type &&
                  f->local_regs[local] != X64_NO_REG;
    return is_fit ? local : JIT_LOCALS_MAX;
}

unsigned
jit_target(struct jit_function *f, char type, struct jit_value v,
           struct jit_value other)
{
    unsigned local = jit_next_local(f, type);

    if (local == JIT_LOCALS_MAX ||
        (other.kind == JIT_LOCAL && other.number == local))
        return jit_own(f, v);

    unsigned reg = f->local_regs[local];
    jit_detach(f, local);
    jit_move(f, reg, v);
    if (v.kind == JIT_REG)
        jit_release(f, v.reg);
    return reg;
}

static bool
jit_is_temp(unsigned reg)
{
    return 1u << reg & JIT_TEMPS;
}

unsigned
jit_place(struct jit_function *f, char type, struct x64_rm rm)
{
    unsigned local = jit_next_local(f, type);
    unsigned old = rm.is_memory ? rm.index : rm.base;

    if (local != JIT_LOCALS_MAX) {
        jit_detach(f, local);
        jit_release(f, old);
        return f->local_regs[local];
    }
    return jit_is_temp(old) ? old : jit_alloc(f);
}

/* A register that is not a temporary one is that of the next local. */
void
jit_result(struct jit_function *f, char type, unsigned reg, unsigned bits)
{
    if (jit_is_temp(reg)) {
        jit_push_reg(f, type, reg);
        f->stack[f->depth - 1].bits = (uint8_t)bits;
        return;
    }
    uint8_t opcode = jit_read_byte(&f->code);
    uint32_t local = jit_read_u32(&f->code);
    if (opcode == JIT_TEE)
        jit_push(f, (struct jit_value){
                        .kind = JIT_LOCAL, .type = type, .number = local});
}

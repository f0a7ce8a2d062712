/* Constants, arithmetic and comparisons. */
#include "v86/jit_function.h"

enum { JIT_ANY_BITS = 64 };

void
jit_op_const(struct jit_function *f, const struct jit_op *op)
{
    jit_push(f, (struct jit_value){.kind = JIT_CONSTANT,
                                   .type = op->result,
                                   .number = f->now.number});
}

static bool
jit_is_imm32(struct jit_value v)
{
    return v.kind == JIT_CONSTANT && v.number == (int32_t)v.number;
}

static void
jit_release_rm(struct jit_function *f, struct x64_rm rm)
{
    if (!rm.is_memory)
        jit_release(f, rm.base);
}

static void
jit_push_flags(struct jit_function *f, unsigned cc)
{
    jit_push(f,
             (struct jit_value){.kind = JIT_FLAGS, .type = 'i', .number = cc});
}

/* The number of an instruction's form with a constant is in its opcode. */
static void
jit_combine(struct jit_function *f, const struct jit_op *op, unsigned reg,
            struct jit_value b)
{
    if (jit_is_imm32(b) && op->arg != X64_IMUL) {
        x64_arith(&f->x, (enum x64_arith)(op->arg >> 3), op->flags,
                  x64_reg(reg), (int32_t)b.number);
        return;
    }
    struct x64_rm rm = jit_operand(f, b);
    x64_op(&f->x, op->arg, op->flags, reg, rm);
    jit_release_rm(f, rm);
}

void
jit_op_arith(struct jit_function *f, const struct jit_op *op)
{
    struct jit_value b = jit_pop(f), a = jit_pop(f);

    if (a.kind == JIT_CONSTANT && op->arg != X64_SUB) {
        struct jit_value c = a;
        a = b;
        b = c;
    }
    unsigned reg = jit_target(f, op->result, a, b);
    jit_combine(f, op, reg, b);
    jit_result(f, op->result, reg, JIT_ANY_BITS);
}

/* Returns the bits that a mask leaves. */
static unsigned
jit_mask_bits(uint32_t mask)
{
    return mask ? 32 - (unsigned)__builtin_clz(mask) : 1;
}

/* A mask that keeps all bits of its operand needs no instruction, and one whose
 * result is only compared with zero changes no register. */
void
jit_op_and(struct jit_function *f, const struct jit_op *op)
{
    struct jit_value b = f->stack[f->depth - 1], a = f->stack[f->depth - 2];

    if (b.kind != JIT_CONSTANT || a.kind == JIT_CONSTANT) {
        jit_op_arith(f, op);
        return;
    }
    uint32_t mask = (uint32_t)b.number;
    f->depth -= 2;
    if (a.kind == JIT_REG && a.bits < 32 && !(~mask & ((1u << a.bits) - 1))) {
        jit_push(f, a);
        return;
    }
    if (jit_next_is_test(f)) {
        unsigned reg = jit_read(f, a);
        x64_test(&f->x, reg, (int32_t)mask);
        jit_release(f, reg);
        jit_push_flags(f, X64_NOT_EQUAL);
        return;
    }
    unsigned reg = jit_target(f, 'i', a, b);
    jit_combine(f, op, reg, b);
    jit_result(f, 'i', reg, jit_mask_bits(mask));
}

/* A shift to the left before a load is part of the address, if no bits are
 * lost: addresses have 32 bits in WebAssembly, but 64 in the instruction. */
static bool
jit_scale(struct jit_function *f, const struct jit_op *op, struct jit_value a,
          unsigned count)
{
    uint8_t next = jit_next(f);
    bool is_load = next >= 0x28 && next <= 0x2f;

    if (op->arg != X64_SHL || op->flags || !is_load || a.kind != JIT_REG ||
        count > 3 || a.bits + count > 32)
        return false;
    a.scale = (uint8_t)count;
    jit_push(f, a);
    return true;
}

static void
jit_shift_constant(struct jit_function *f, const struct jit_op *op,
                   struct jit_value a, struct jit_value b)
{
    unsigned width = op->flags & X64_WIDE ? 64 : 32;
    unsigned count = (unsigned)b.number & (width - 1);

    if (jit_scale(f, op, a, count))
        return;
    unsigned reg = jit_target(f, op->result, a, b);
    if (count)
        x64_shift(&f->x, (enum x64_shift)op->arg, op->flags, reg, count);
    jit_result(f, op->result, reg,
               op->arg == X64_SHR ? width - count : JIT_ANY_BITS);
}

/* The processor takes the count modulo the width as WebAssembly does. */
void
jit_op_shift(struct jit_function *f, const struct jit_op *op)
{
    struct jit_value b = jit_pop(f), a = jit_pop(f);

    if (b.kind == JIT_CONSTANT) {
        jit_shift_constant(f, op, a, b);
        return;
    }
    unsigned reg = jit_target(f, op->result, a, b);
    jit_move(f, JIT_SCRATCH, b);
    x64_op(&f->x, X64_SHIFT_CL, op->flags, op->arg, x64_reg(reg));
    if (b.kind == JIT_REG)
        jit_release(f, b.reg);
    jit_result(f, op->result, reg, JIT_ANY_BITS);
}

/* The division has fixed registers, so all others are moved away first. */
void
jit_op_divide(struct jit_function *f, const struct jit_op *op)
{
    jit_spill(f);

    struct jit_value b = jit_pop(f), a = jit_pop(f);
    jit_move(f, X64_RCX, b);
    x64_op(&f->x, X64_TEST, X64_WIDE, X64_RCX, x64_reg(X64_RCX));
    x64_jump_if(&f->x, X64_EQUAL, f->trap_code);
    jit_move(f, X64_RAX, a);
    x64_op(&f->x, X64_XOR, 0, X64_RDX, x64_reg(X64_RDX));
    x64_op(&f->x, X64_GROUP3, X64_WIDE, 6, x64_reg(X64_RCX));
    jit_push_reg(f, 'l', op->arg);
}

void
jit_op_eqz(struct jit_function *f, const struct jit_op *op)
{
    struct jit_value v = jit_pop(f);

    (void)op;
    if (v.kind == JIT_FLAGS) {
        jit_push_flags(f, (unsigned)v.number ^ 1);
        return;
    }
    unsigned reg = jit_read(f, v);
    x64_op(&f->x, X64_TEST, 0, reg, x64_reg(reg));
    jit_release(f, reg);
    jit_push_flags(f, X64_EQUAL);
}

static void
jit_compare_constant(struct jit_function *f, const struct jit_op *op,
                     struct jit_value a, struct jit_value b)
{
    struct x64_rm rm = jit_operand(f, a);

    if (b.number == 0 && !rm.is_memory)
        x64_op(&f->x, X64_TEST, op->flags, rm.base, rm);
    else
        x64_arith(&f->x, X64_ARITH_CMP, op->flags, rm, (int32_t)b.number);
    jit_release_rm(f, rm);
}

void
jit_op_compare(struct jit_function *f, const struct jit_op *op)
{
    struct jit_value b = jit_pop(f), a = jit_pop(f);

    if (jit_is_imm32(b)) {
        jit_compare_constant(f, op, a, b);
    } else {
        unsigned reg = jit_read(f, a);
        struct x64_rm rm = jit_operand(f, b);
        x64_op(&f->x, X64_CMP, op->flags, reg, rm);
        jit_release(f, reg);
        jit_release_rm(f, rm);
    }
    jit_push_flags(f, op->arg);
}

/* The instruction reads 32 bits, and sets all bits of the result. */
void
jit_op_convert(struct jit_function *f, const struct jit_op *op)
{
    struct x64_rm rm = jit_operand(f, jit_pop(f));
    unsigned reg = jit_place(f, op->result, rm);

    x64_op(&f->x, op->arg, op->flags, reg, rm);
    jit_result(f, op->result, reg, JIT_ANY_BITS);
}

/* Floating-point numbers are bits in registers for integers: no instruction of
 * the dialect computes with them. */
void
jit_op_reinterpret(struct jit_function *f, const struct jit_op *op)
{
    f->stack[f->depth - 1].type = op->result;
}

/* Both values are ready before the condition is tested, because a condition in
 * the flags must survive. */
static void
jit_select(struct jit_function *f, struct jit_value a, struct jit_value b,
           struct jit_value condition)
{
    unsigned cc = X64_NOT_EQUAL;
    unsigned reg = jit_own(f, a);
    struct x64_rm rm = jit_operand(f, b);

    if (condition.kind == JIT_FLAGS) {
        cc = (unsigned)condition.number;
    } else {
        unsigned test = jit_read(f, condition);
        x64_op(&f->x, X64_TEST, 0, test, x64_reg(test));
        jit_release(f, test);
    }
    x64_op(&f->x, X64_CMOV + (cc ^ 1), jit_type_flags(a.type), reg, rm);
    jit_release_rm(f, rm);
    jit_push_reg(f, a.type, reg);
}

void
jit_op_select(struct jit_function *f, const struct jit_op *op)
{
    struct jit_value condition = jit_pop_type(f, 'i');
    struct jit_value b = jit_pop_type(f, 0);
    struct jit_value a = jit_pop_type(f, b.type);

    (void)op;
    if (f->error)
        return;
    if (!f->is_unreachable)
        jit_select(f, a, b, condition);
    else
        jit_push(f, (struct jit_value){.type = a.type ? a.type : b.type});
}

void
jit_op_drop(struct jit_function *f, const struct jit_op *op)
{
    struct jit_value v = jit_pop_type(f, 0);

    (void)op;
    if (v.kind == JIT_REG)
        jit_release(f, v.reg);
}

/* Locals, loads and stores. */
#include "v86/jit_function.h"

/* Constant addresses below this are inside any memory. */
enum { JIT_LOW_ADDRESS = 64 << 10 };

/* --- locals --- */

static bool
jit_local_is_valid(struct jit_function *f)
{
    if ((uint64_t)f->now.number < f->local_count)
        return true;
    jit_refuse(f, "a local that is not declared");
    return false;
}

void
jit_op_local_get(struct jit_function *f, const struct jit_op *op)
{
    (void)op;
    if (!jit_local_is_valid(f))
        return;
    jit_push(f, (struct jit_value){.kind = f->is_unreachable ? JIT_UNKNOWN
                                                             : JIT_LOCAL,
                                   .type = f->local_types[f->now.number],
                                   .number = f->now.number});
}

/* Does not release the register of the value. */
static void
jit_local_assign(struct jit_function *f, unsigned local, struct jit_value v)
{
    if (v.kind == JIT_LOCAL && v.number == local)
        return;
    jit_detach(f, local);
    if (f->local_regs[local] != X64_NO_REG) {
        jit_move(f, f->local_regs[local], v);
        return;
    }
    unsigned reg = jit_read(f, v);
    x64_op(&f->x, X64_STORE, X64_WIDE, reg, jit_frame_local(local));
    if (v.kind != JIT_REG)
        jit_release(f, reg);
}

static void
jit_local_set(struct jit_function *f, bool is_tee)
{
    if (!jit_local_is_valid(f))
        return;

    unsigned local = (unsigned)f->now.number;
    char type = f->local_types[local];
    struct jit_value v = jit_pop_type(f, type);
    if (f->error)
        return;
    if (!f->is_unreachable)
        jit_local_assign(f, local, v);

    bool is_kept =
        is_tee && v.kind == JIT_REG && f->local_regs[local] == X64_NO_REG;
    if (v.kind == JIT_REG && !is_kept)
        jit_release(f, v.reg);
    if (is_kept)
        jit_push(f, v);
    else if (is_tee)
        jit_push(f, (struct jit_value){.kind = f->is_unreachable ? JIT_UNKNOWN
                                                                 : JIT_LOCAL,
                                       .type = type,
                                       .number = local});
}

void
jit_op_local_set(struct jit_function *f, const struct jit_op *op)
{
    (void)op;
    jit_local_set(f, false);
}

void
jit_op_local_tee(struct jit_function *f, const struct jit_op *op)
{
    (void)op;
    jit_local_set(f, true);
}

/* --- memory --- */

/* An address is an index of 32 bits plus an offset of 31 bits. The sum is below
 * 6 GiB, and memory is a reservation of 8 GiB of which the part that is not the
 * guest's traps; no comparison is needed. */
static struct x64_rm
jit_address(struct jit_function *f, struct jit_value v)
{
    uint64_t sum = (uint64_t)f->now.number;

    if (v.kind == JIT_CONSTANT)
        sum += (uint32_t)v.number;
    if (v.kind == JIT_CONSTANT && sum <= INT32_MAX)
        return x64_at(JIT_MEMORY, (int32_t)sum);
    if (f->now.number > INT32_MAX)
        jit_refuse(f, "an offset above 2 GiB");
    return (struct x64_rm){true, JIT_MEMORY, (uint8_t)jit_read(f, v), v.scale,
                           (int32_t)f->now.number};
}

static unsigned
jit_load_bits(unsigned op)
{
    return op == X64_MOVZX8 ? 8 : op == X64_MOVZX16 ? 16 : 64;
}

void
jit_op_load(struct jit_function *f, const struct jit_op *op)
{
    struct x64_rm rm = jit_address(f, jit_pop(f));

    if (op->result == 'i' && op->arg == X64_MOV && jit_next_is_test(f)) {
        x64_arith(&f->x, X64_ARITH_CMP, 0, rm, 0);
        jit_release(f, rm.index);
        jit_push(f, (struct jit_value){.kind = JIT_FLAGS,
                                       .type = 'i',
                                       .number = X64_NOT_EQUAL});
        return;
    }
    unsigned reg = jit_place(f, op->result, rm);
    x64_op(&f->x, op->arg, op->flags, reg, rm);
    jit_result(f, op->result, reg, jit_load_bits(op->arg));
}

static unsigned
jit_store_bytes(const struct jit_op *op)
{
    return op->flags & X64_WIDE   ? 8
           : op->flags & X64_HALF ? 2
           : op->flags & X64_BYTE ? 1
                                  : 4;
}

/* Stores a constant without a register, if the instruction set can. Two stores
 * are one only if none of them traps. */
static bool
jit_store_constant(struct jit_function *f, unsigned bytes, struct x64_rm rm,
                   int64_t number)
{
    bool is_low = rm.index == X64_RSP && rm.disp < JIT_LOW_ADDRESS - 8;

    if (number == (int32_t)number) {
        x64_store(&f->x, bytes, rm, (int32_t)number);
        return true;
    }
    if (!is_low)
        return false;
    x64_store(&f->x, 4, rm, (int32_t)number);
    rm.disp += 4;
    x64_store(&f->x, 4, rm, (int32_t)(number >> 32));
    return true;
}

void
jit_op_store(struct jit_function *f, const struct jit_op *op)
{
    struct jit_value v = jit_pop(f);
    struct x64_rm rm = jit_address(f, jit_pop(f));

    if (v.kind != JIT_CONSTANT ||
        !jit_store_constant(f, jit_store_bytes(op), rm, v.number)) {
        unsigned reg = jit_read(f, v);
        x64_op(&f->x, op->arg, op->flags, reg, rm);
        jit_release(f, reg);
    }
    jit_release(f, rm.index);
}

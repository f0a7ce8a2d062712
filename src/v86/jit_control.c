/* Blocks, branches and calls. */
#include "v86/jit_function.h"

#include "v86/core.h"

#include <string.h>

enum {
    JIT_OP_BLOCK = 0x02,
    JIT_OP_LOOP = 0x03,
    JIT_OP_IF = 0x04,
    JIT_OP_ELSE = 0x05,
    JIT_OP_END = 0x0b,
    JIT_OP_CALL = 0x10,
};

static struct jit_block *
jit_top(struct jit_function *f)
{
    return &f->blocks[f->block_count - 1];
}

/* The code up to the end of the block cannot be reached. */
static void
jit_stop(struct jit_function *f)
{
    jit_truncate(f, jit_top(f)->base);
    f->is_unreachable = true;
}

void
jit_op_unreachable(struct jit_function *f, const struct jit_op *op)
{
    (void)op;
    if (!f->is_unreachable)
        x64_call(&f->x, f->trap_label);
    jit_stop(f);
}

void
jit_op_nop(struct jit_function *f, const struct jit_op *op)
{
    (void)f;
    (void)op;
}

/* --- blocks --- */

void
jit_open(struct jit_function *f, uint8_t opcode, char result)
{
    if (f->block_count == JIT_NESTING_MAX) {
        jit_refuse(f, "too many nested blocks");
        return;
    }
    f->blocks[f->block_count++] = (struct jit_block){
        .opcode = opcode,
        .result = result,
        .was_unreachable = f->is_unreachable,
        .base = f->depth,
        .label = f->is_unreachable ? 0 : x64_label(&f->x),
    };
}

void
jit_op_block(struct jit_function *f, const struct jit_op *op)
{
    (void)op;
    if (!f->is_unreachable)
        jit_flush(f);
    jit_open(f, JIT_OP_BLOCK, f->now.result);
}

void
jit_op_loop(struct jit_function *f, const struct jit_op *op)
{
    (void)op;
    if (!f->is_unreachable)
        jit_flush(f);
    jit_open(f, JIT_OP_LOOP, f->now.result);
    if (!f->is_unreachable && !f->error)
        x64_bind(&f->x, jit_top(f)->label);
}

/* Tests a value, and returns the condition under which it is not zero. */
static unsigned
jit_test(struct jit_function *f, struct jit_value v)
{
    if (v.kind == JIT_FLAGS)
        return (unsigned)v.number;

    unsigned reg = jit_read(f, v);
    x64_op(&f->x, X64_TEST, 0, reg, x64_reg(reg));
    jit_release(f, reg);
    return X64_NOT_EQUAL;
}

void
jit_op_if(struct jit_function *f, const struct jit_op *op)
{
    struct jit_value v = jit_pop_type(f, 'i');

    (void)op;
    if (f->error)
        return;
    if (f->is_unreachable) {
        jit_open(f, JIT_OP_IF, f->now.result);
        return;
    }
    jit_flush(f);
    unsigned cc = jit_test(f, v), label = x64_label(&f->x);
    x64_jump_if(&f->x, cc ^ 1, label);
    jit_open(f, JIT_OP_IF, f->now.result);
    if (!f->error)
        jit_top(f)->else_label = label;
}

/* Puts the result of a block into its place at the end of a branch. */
static void
jit_finish(struct jit_function *f, const struct jit_block *b)
{
    if (b->result != 'v') {
        struct jit_value v = jit_pop_type(f, b->result);
        if (f->error)
            return;
        if (!f->is_unreachable)
            jit_save(f, b->base, v);
        if (v.kind == JIT_REG)
            jit_release(f, v.reg);
    }
    if (f->depth != b->base)
        jit_refuse(f, "operands that nothing uses at the end of a block");
}

void
jit_op_else(struct jit_function *f, const struct jit_op *op)
{
    struct jit_block *b = jit_top(f);

    (void)op;
    if (b->opcode != JIT_OP_IF || b->has_else) {
        jit_refuse(f, "else without if");
        return;
    }
    jit_finish(f, b);
    if (!f->is_unreachable)
        x64_jump(&f->x, b->label);
    if (!b->was_unreachable)
        x64_bind(&f->x, b->else_label);
    b->has_else = true;
    f->is_unreachable = b->was_unreachable;
}

static void
jit_close(struct jit_function *f, const struct jit_block *b)
{
    if (b->opcode == JIT_OP_IF && !b->has_else)
        x64_bind(&f->x, b->else_label);
    if (b->is_outlined) {
        if (!f->is_unreachable)
            x64_jump(&f->x, b->label);
        f->x.at = X64_HOT;
    }
    if (b->opcode != JIT_OP_LOOP)
        x64_bind(&f->x, b->label);
}

void
jit_op_end(struct jit_function *f, const struct jit_op *op)
{
    struct jit_block b = *jit_top(f);

    (void)op;
    jit_finish(f, &b);
    if (b.opcode == JIT_OP_IF && !b.has_else && b.result != 'v')
        jit_refuse(f, "if with a result, without else");
    if (f->error)
        return;
    if (!b.was_unreachable)
        jit_close(f, &b);
    f->block_count--;
    f->is_unreachable = b.was_unreachable;
    if (b.result != 'v')
        jit_push(f, (struct jit_value){.kind = b.was_unreachable ? JIT_UNKNOWN
                                                                 : JIT_SLOT,
                                       .type = b.result,
                                       .number = b.base});
}

/* --- branches --- */

/* Returns the block that a branch leaves, or NULL. */
static struct jit_block *
jit_branch_block(struct jit_function *f, uint64_t index)
{
    if (index < f->block_count)
        return &f->blocks[f->block_count - 1 - index];
    jit_refuse(f, "a branch out of the function");
    return NULL;
}

/* A branch to a loop goes to its beginning, which takes no operands. */
static char
jit_branch_type(const struct jit_block *b)
{
    return b->opcode == JIT_OP_LOOP ? 'v' : b->result;
}

static void
jit_branch(struct jit_function *f, uint64_t index)
{
    struct jit_block *b = jit_branch_block(f, index);

    if (!b)
        return;
    if (jit_branch_type(b) != 'v') {
        struct jit_value v = jit_pop_type(f, b->result);
        if (!f->is_unreachable && !f->error)
            jit_save(f, b->base, v);
        if (v.kind == JIT_REG)
            jit_release(f, v.reg);
    }
    if (f->error)
        return;
    if (!f->is_unreachable)
        x64_jump(&f->x, b->label);
    jit_stop(f);
}

void
jit_op_br(struct jit_function *f, const struct jit_op *op)
{
    (void)op;
    jit_branch(f, (uint64_t)f->now.number);
}

void
jit_op_return(struct jit_function *f, const struct jit_op *op)
{
    (void)op;
    jit_branch(f, f->block_count - 1);
}

/* Returns true if the rest of the innermost block is the call of a function of
 * the core, with few instructions around it. */
static bool
jit_is_slow_path(const struct jit_function *f)
{
    enum { INSTRUCTIONS_MAX = 16 };
    struct jit_reader r = f->code;
    bool has_call = false;

    for (int i = 0; i < INSTRUCTIONS_MAX && !r.has_failed; i++) {
        uint8_t opcode = jit_read_byte(&r);
        const struct jit_op *op = jit_op_find(opcode);
        if (opcode == JIT_OP_END)
            return has_call;
        if (!op->handler || op->immediate == JIT_BLOCK ||
            op->immediate == JIT_TABLE || opcode == JIT_OP_ELSE)
            return false;
        has_call = has_call || opcode == JIT_OP_CALL;
        (void)jit_op_read(&r, op);
    }
    return false;
}

/* The core guards each access to the guest's memory by a block that is left if
 * the page is known, and otherwise calls a function. That call almost never
 * happens. The rest of such a block goes to the section X64_COLD (hot/cold
 * splitting): the hot path then has no jumps, and half as many bytes. */
static bool
jit_can_outline(struct jit_function *f, uint64_t index)
{
    return index == 0 && jit_top(f)->opcode == JIT_OP_BLOCK &&
           jit_top(f)->result == 'v' && f->x.at == X64_HOT &&
           jit_is_slow_path(f);
}

static void
jit_outline(struct jit_function *f, unsigned label)
{
    jit_top(f)->is_outlined = true;
    f->x.at = X64_COLD;
    x64_bind(&f->x, label);
}

/* The value stays on the stack. Its place in the target may belong to another
 * operand, which is still needed if the condition is false. */
static void
jit_branch_with(struct jit_function *f, const struct jit_block *b, unsigned cc)
{
    unsigned skip = x64_label(&f->x);

    x64_jump_if(&f->x, cc ^ 1, skip);
    jit_save(f, b->base, f->stack[f->depth - 1]);
    x64_jump(&f->x, b->label);
    x64_bind(&f->x, skip);
}

static void
jit_branch_if(struct jit_function *f, uint64_t index, struct jit_value v)
{
    struct jit_block *b = jit_branch_block(f, index);
    unsigned cc = jit_test(f, v);

    if (jit_branch_type(b) != 'v') {
        jit_branch_with(f, b, cc);
    } else if (jit_can_outline(f, index)) {
        unsigned cold = x64_label(&f->x);
        x64_jump_if(&f->x, cc ^ 1, cold);
        jit_outline(f, cold);
    } else {
        x64_jump_if(&f->x, cc, b->label);
    }
}

void
jit_op_br_if(struct jit_function *f, const struct jit_op *op)
{
    uint64_t index = (uint64_t)f->now.number;
    struct jit_value v = jit_pop_type(f, 'i');
    struct jit_block *b = jit_branch_block(f, index);

    (void)op;
    if (!b || f->error)
        return;
    if (jit_branch_type(b) != 'v') {
        struct jit_value result = jit_pop_type(f, b->result);
        result.type = b->result;
        jit_push(f, result);
    }
    if (!f->is_unreachable && !f->error)
        jit_branch_if(f, index, v);
}

/* The core checks with two comparisons that a page is known and that an access
 * does not cross its end:
 *
 *     COMPARISON; local.get x; i32.const mask; i32.and; i32.const max;
 *     i32.le_s; i32.and; br_if n
 *
 * As two branches this needs no register. RCX is free, so nothing is moved
 * between the two. */
struct jit_page_check {
    uint32_t local, index;
    int32_t mask, max;
};

static bool
jit_match_page_check(const struct jit_function *f, struct jit_reader *r,
                     struct jit_page_check *c)
{
    bool is_match = jit_read_byte(r) == 0x20;

    c->local = jit_read_u32(r);
    is_match = is_match && jit_read_byte(r) == 0x41;
    c->mask = jit_read_i32(r);
    is_match = is_match && jit_read_byte(r) == 0x71;
    is_match = is_match && jit_read_byte(r) == 0x41;
    c->max = jit_read_i32(r);
    is_match = is_match && jit_read_byte(r) == 0x4c;
    is_match = is_match && jit_read_byte(r) == 0x71;
    is_match = is_match && jit_read_byte(r) == 0x0d;
    c->index = jit_read_u32(r);
    return is_match && !r->has_failed && c->local < f->local_count &&
           f->local_types[c->local] == 'i' && c->index < f->block_count;
}

static void
jit_emit_page_check(struct jit_function *f, const struct jit_page_check *c)
{
    struct jit_value local = {
        .kind = JIT_LOCAL, .type = 'i', .number = c->local};
    struct x64_rm scratch = x64_reg(JIT_SCRATCH);

    jit_move(f, JIT_SCRATCH, local);
    x64_arith(&f->x, X64_ARITH_AND, 0, scratch, c->mask);
    x64_arith(&f->x, X64_ARITH_CMP, 0, scratch, c->max);
}

bool
jit_fuse_branch(struct jit_function *f)
{
    struct jit_reader r = f->code;
    struct jit_page_check c;

    if (!jit_match_page_check(f, &r, &c) ||
        jit_branch_type(jit_branch_block(f, c.index)) != 'v')
        return false;

    unsigned cc = (unsigned)jit_pop(f).number, other = x64_label(&f->x);
    f->code = r;
    x64_jump_if(&f->x, cc ^ 1, other);
    jit_emit_page_check(f, &c);
    if (jit_can_outline(f, c.index)) {
        x64_jump_if(&f->x, X64_GREATER, other);
        jit_outline(f, other);
    } else {
        x64_jump_if(&f->x, X64_LESS_EQUAL, jit_branch_block(f, c.index)->label);
        x64_bind(&f->x, other);
    }
    return true;
}

/* Reads the targets of a table, and appends their distances from the label
 * `table` if the code can be reached. Returns the block of the last one, which
 * is for all other numbers. */
static const struct jit_block *
jit_read_targets(struct jit_function *f, uint32_t n, unsigned table)
{
    const struct jit_block *b = NULL;
    enum x64_section at = f->x.at;

    f->x.at = X64_DATA;
    if (!f->is_unreachable)
        x64_bind(&f->x, table);
    for (uint32_t i = 0; i <= n && !f->error; i++) {
        b = jit_branch_block(f, jit_read_u32(&f->code));
        if (b && jit_branch_type(b) != 'v')
            jit_refuse(f, "br_table with a result");
        if (b && i < n && !f->is_unreachable)
            x64_distance(&f->x, table, b->label);
    }
    f->x.at = at;
    return b;
}

void
jit_op_br_table(struct jit_function *f, const struct jit_op *op)
{
    struct jit_value v = jit_pop_type(f, 'i');
    uint32_t n = jit_read_u32(&f->code);

    (void)op;
    if (n >= (size_t)(f->code.end - f->code.p))
        jit_refuse(f, "a table of branches beyond the end");
    if (f->error)
        return;
    if (f->is_unreachable) {
        (void)jit_read_targets(f, n, 0);
        return;
    }
    unsigned reg = jit_own(f, v);
    unsigned table = x64_label(&f->x), miss = x64_label(&f->x);
    x64_arith(&f->x, X64_ARITH_CMP, 0, x64_reg(reg), (int32_t)n);
    x64_jump_if(&f->x, X64_ABOVE_EQUAL, miss);
    x64_address(&f->x, JIT_SCRATCH, table);
    x64_op(&f->x, X64_MOVSXD, X64_WIDE, reg,
           (struct x64_rm){true, JIT_SCRATCH, (uint8_t)reg, 2, 0});
    x64_op(&f->x, X64_ADD, X64_WIDE, reg, x64_reg(JIT_SCRATCH));
    x64_jump_to(&f->x, reg);
    x64_bind(&f->x, miss);
    jit_release(f, reg);

    const struct jit_block *other = jit_read_targets(f, n, table);
    if (f->error)
        return;
    x64_jump(&f->x, other->label);
    jit_stop(f);
}

/* --- calls --- */

/* Saves or restores the locals whose registers a call may change. */
static void
jit_volatile_locals(struct jit_function *f, unsigned op)
{
    for (unsigned i = 0; i < f->local_count; i++)
        if (f->local_regs[i] != X64_NO_REG &&
            1u << f->local_regs[i] & JIT_VOLATILE_LOCALS)
            x64_op(&f->x, op, X64_WIDE, f->local_regs[i], jit_frame_local(i));
}

/* Loads an argument. Registers of volatile locals may be overwritten by
 * arguments already, but the locals are in the frame, too. */
static void
jit_load_argument(struct jit_function *f, unsigned reg, struct jit_value v)
{
    if (v.kind == JIT_LOCAL && f->local_regs[v.number] != X64_NO_REG &&
        1u << f->local_regs[v.number] & JIT_VOLATILE_LOCALS)
        x64_op(&f->x, X64_MOV, jit_type_flags(v.type), reg,
               jit_frame_local((unsigned)v.number));
    else
        jit_move(f, reg, v);
}

/* Operands are in no temporary register: arguments can be loaded one by one. */
static void
jit_load_arguments(struct jit_function *f, const char *params,
                   const struct jit_value *values)
{
    static const uint8_t regs[] = {X64_RSI, X64_RDX, X64_RCX, X64_R8, X64_R9};
    unsigned ints = 0, floats = 0;

    for (unsigned i = 0; params[i]; i++) {
        bool is_float = params[i] == 'f' || params[i] == 'd';
        unsigned reg = is_float ? X64_RAX : regs[ints++];
        jit_load_argument(f, reg, values[i]);
        if (is_float)
            x64_op(&f->x, X64_MOVD_FROM_GPR, X64_HALF | X64_WIDE, floats++,
                   x64_reg(reg));
    }
    x64_op(&f->x, X64_MOV, X64_WIDE, X64_RDI, jit_frame_instance());
}

/* Pushes the result. The upper half of an i32 is undefined until it is moved.
 */
static void
jit_take_result(struct jit_function *f, char type)
{
    struct jit_value none = {.kind = JIT_CONSTANT};
    struct jit_value v = {.kind = JIT_REG, .type = type, .reg = X64_RAX};

    f->busy |= 1u << X64_RAX;
    if (type == 'f' || type == 'd')
        x64_op(&f->x, X64_MOVD_TO_GPR, X64_HALF | jit_type_flags(type), 0,
               x64_reg(X64_RAX));
    unsigned reg = jit_target(f, type, v, none);
    if (reg == X64_RAX && type == 'i')
        x64_op(&f->x, X64_MOV, 0, reg, x64_reg(reg));
    jit_result(f, type, reg, 64);
}

static void
jit_call(struct jit_function *f, unsigned index, const struct core_symbol *s)
{
    jit_spill(f);
    f->depth -= (unsigned)strlen(s->params);
    jit_volatile_locals(f, X64_STORE);
    jit_load_arguments(f, s->params, f->stack + f->depth);
    x64_call(&f->x, f->import_labels[index]);
    jit_volatile_locals(f, X64_MOV);
    if (s->result != 'v')
        jit_take_result(f, s->result);
}

static void
jit_call_unreachable(struct jit_function *f, const struct core_symbol *s)
{
    for (size_t n = strlen(s->params); n > 0 && !f->error; n--)
        (void)jit_pop_type(f, s->params[n - 1]);
    if (s->result != 'v')
        jit_push(f, (struct jit_value){.type = s->result});
}

void
jit_op_call(struct jit_function *f, const struct jit_op *op)
{
    uint64_t index = (uint64_t)f->now.number;

    (void)op;
    if (index >= f->module->import_count) {
        jit_refuse(f, "a call of a function that is not imported");
        return;
    }
    const struct core_symbol *s = f->module->imports[index];
    if (f->is_unreachable)
        jit_call_unreachable(f, s);
    else if (jit_check_operands(f, s->params))
        jit_call(f, (unsigned)index, s);
}

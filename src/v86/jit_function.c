#include "v86/jit_function.h"

#include "v86/core.h"

#include <string.h>

/* Registers of locals, in the order of the numbers of their uses. */
static const uint8_t jit_local_regs[] = {
    X64_RBP, X64_R12, X64_R13, X64_R14, X64_R15, X64_R8, X64_R9, X64_R10,
};

/* Registers that belong to the caller. */
static const uint8_t jit_saved_regs[] = {
    X64_RBX, X64_RBP, X64_R12, X64_R13, X64_R14, X64_R15,
};

void
jit_refuse(struct jit_function *f, const char *why)
{
    if (!f->error)
        f->error = why;
}

/* --- instructions --- */

const struct jit_op *
jit_op_find(uint8_t opcode)
{
#define OTHER(code, name, kind, function) \
    [code] = {.handler = function, .immediate = kind},
#define FIXED(code, name, kind, function, types, type, value, bits) \
    [code] = {function, types, type, kind, value, bits},
    static const struct jit_op ops[256] = {
#include "v86/jit_ops.def"
    };
#undef OTHER
#undef FIXED
    return &ops[opcode];
}

/* The type of a block: no result, or one value. */
static char
jit_read_block_type(struct jit_reader *r)
{
    if (r->p < r->end && *r->p == 0x40) {
        r->p++;
        return 'v';
    }
    return jit_read_type(r);
}

/* Alignment is a hint, which must not exceed the size of the access. */
static int64_t
jit_read_offset(struct jit_reader *r, unsigned align_max)
{
    if (jit_read_u32(r) > align_max)
        r->has_failed = true;
    return jit_read_u32(r);
}

struct jit_immediates
jit_op_read(struct jit_reader *r, const struct jit_op *op)
{
    struct jit_immediates now = {0};

    switch (op->immediate) {
    case JIT_INDEX:
        now.number = jit_read_u32(r);
        break;
    case JIT_BLOCK:
        now.result = jit_read_block_type(r);
        break;
    case JIT_I32:
        now.number = jit_read_i32(r);
        break;
    case JIT_I64:
        now.number = jit_read_i64(r);
        break;
    case JIT_MEMORY_1:
    case JIT_MEMORY_2:
    case JIT_MEMORY_4:
    case JIT_MEMORY_8:
        now.number = jit_read_offset(r, op->immediate - JIT_MEMORY_1);
        break;
    default:
        break;
    }
    return now;
}

bool
jit_check_operands(struct jit_function *f, const char *params)
{
    unsigned n = (unsigned)strlen(params);
    unsigned base = f->blocks[f->block_count - 1].base;

    if (f->depth - base < n) {
        jit_refuse(f, "an operand is missing");
        return false;
    }
    for (unsigned i = 0; i < n; i++) {
        if (f->stack[f->depth - n + i].type != params[i]) {
            jit_refuse(f, "an operand of another type");
            return false;
        }
    }
    return true;
}

/* Code that cannot be reached is checked, but not translated. */
static void
jit_check_unreachable(struct jit_function *f, const struct jit_op *op)
{
    for (size_t n = strlen(op->params); n > 0 && !f->error; n--)
        (void)jit_pop_type(f, op->params[n - 1]);
    if (op->result != 'v')
        jit_push(f, (struct jit_value){.type = op->result});
}

static void
jit_instruction(struct jit_function *f)
{
    const struct jit_op *op = jit_op_find(jit_read_byte(&f->code));

    f->now = jit_op_read(&f->code, op);
    if (f->code.has_failed || !op->handler)
        jit_refuse(f, "an unknown or damaged instruction");
    else if (op->params && f->is_unreachable)
        jit_check_unreachable(f, op);
    else if (!op->params || jit_check_operands(f, op->params))
        op->handler(f, op);
}

/* Returns true if a condition is on top of the stack, and the next instruction
 * needs it as a number. */
static bool
jit_must_unflag(const struct jit_function *f)
{
    return f->depth && f->stack[f->depth - 1].kind == JIT_FLAGS &&
           !jit_next_is_test(f) && jit_next(f) != 0x1b; /* select */
}

static void
jit_body(struct jit_function *f)
{
    while (f->block_count && !f->error && !f->x.has_failed) {
        if (!jit_must_unflag(f))
            jit_instruction(f);
        else if (!jit_fuse_branch(f))
            jit_unflag(f);
    }
    if (f->code.p != f->code.end)
        jit_refuse(f, "code behind the end of the function");
}

/* --- locals --- */

static void
jit_declare_locals(struct jit_function *f)
{
    f->local_types[f->local_count++] = 'i'; /* the parameter */
    for (uint32_t n = jit_read_u32(&f->code); n > 0 && !f->error; n--) {
        uint32_t count = jit_read_u32(&f->code);
        char type = jit_read_type(&f->code);
        if (f->code.has_failed || count > JIT_LOCALS_MAX - f->local_count) {
            jit_refuse(f, "too many or damaged locals");
            return;
        }
        memset(f->local_types + f->local_count, type, count);
        f->local_count += count;
    }
}

/* Counts the uses of each local. Stops at damaged code, which jit_body
 * refuses. */
static void
jit_count_uses(const struct jit_function *f, unsigned *uses)
{
    struct jit_reader r = f->code;

    while (r.p < r.end && !r.has_failed) {
        uint8_t opcode = jit_read_byte(&r);
        const struct jit_op *op = jit_op_find(opcode);
        if (!op->handler)
            return;
        struct jit_immediates now = jit_op_read(&r, op);
        if (opcode >= 0x20 && opcode <= 0x22 && now.number < f->local_count)
            uses[now.number]++;
        if (op->immediate != JIT_TABLE)
            continue;
        uint32_t n = jit_read_u32(&r);
        for (uint64_t i = 0; i <= n && !r.has_failed; i++)
            (void)jit_read_u32(&r);
    }
}

static void
jit_assign_registers(struct jit_function *f)
{
    unsigned uses[JIT_LOCALS_MAX] = {0};

    jit_count_uses(f, uses);
    memset(f->local_regs, X64_NO_REG, sizeof f->local_regs);
    for (size_t k = 0; k < sizeof jit_local_regs; k++) {
        unsigned best = 0;
        for (unsigned i = 1; i < f->local_count; i++)
            if (uses[i] > uses[best])
                best = i;
        if (!uses[best])
            return;
        f->local_regs[best] = jit_local_regs[k];
        uses[best] = 0;
    }
}

/* --- the function --- */

/* The parameter is in RSI, the instance in RDI; other locals begin as zero. */
static void
jit_enter(struct jit_function *f, const void *memory)
{
    struct x64 *x = &f->x;

    for (size_t i = 0; i < sizeof jit_saved_regs; i++)
        x64_push(x, jit_saved_regs[i]);
    x64_arith(x, X64_ARITH_SUB, X64_WIDE, x64_reg(X64_RSP), jit_frame_bytes(f));
    x64_op(x, X64_STORE, X64_WIDE, X64_RDI, jit_frame_instance());
    x64_constant(x, JIT_MEMORY, (uintptr_t)memory);
    x64_op(x, X64_MOV, 0, X64_RSI, x64_reg(X64_RSI));
    x64_op(x, X64_XOR, 0, X64_RAX, x64_reg(X64_RAX));
    for (unsigned i = 0; i < f->local_count; i++) {
        unsigned from = i == 0 ? X64_RSI : X64_RAX;
        if (f->local_regs[i] == X64_NO_REG)
            x64_op(x, X64_STORE, X64_WIDE, from, jit_frame_local(i));
        else
            x64_op(x, X64_MOV, 0, f->local_regs[i], x64_reg(from));
    }
}

static void
jit_leave(struct jit_function *f)
{
    struct x64 *x = &f->x;

    x64_arith(x, X64_ARITH_ADD, X64_WIDE, x64_reg(X64_RSP), jit_frame_bytes(f));
    for (size_t i = sizeof jit_saved_regs; i > 0; i--)
        x64_pop(x, jit_saved_regs[i - 1]);
    x64_return(x);
}

/* Addresses of called functions are data, because the distance from the code to
 * them may have more than 32 bits. */
static unsigned
jit_address_data(struct jit_function *f, void (*function)(void))
{
    unsigned label = x64_label(&f->x);

    f->x.at = X64_DATA;
    x64_bind(&f->x, label);
    x64_data(&f->x, (uintptr_t)function);
    f->x.at = X64_HOT;
    return label;
}

static void
jit_make_labels(struct jit_function *f, void (*trap)(void))
{
    f->trap_label = jit_address_data(f, trap);
    f->trap_code = x64_label(&f->x);
    for (unsigned i = 0; i < f->module->import_count; i++)
        f->import_labels[i] =
            jit_address_data(f, f->module->imports[i]->function);
}

static void
jit_emit_trap(struct jit_function *f)
{
    f->x.at = X64_COLD;
    x64_bind(&f->x, f->trap_code);
    x64_call(&f->x, f->trap_label);
}

const char *
jit_function_translate(struct jit_function *f, const struct jit_module *module,
                       const void *memory, void (*trap)(void))
{
    f->module = module;
    f->code = module->body;
    jit_declare_locals(f);
    if (f->error)
        return f->error;
    jit_assign_registers(f);
    jit_make_labels(f, trap);
    jit_enter(f, memory);
    jit_open(f, 0x02, 'v');
    jit_body(f);
    jit_leave(f);
    jit_emit_trap(f);
    return f->x.has_failed ? "no memory" : f->error;
}

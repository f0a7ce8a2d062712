/* The compiler of src/v86 against wasmtime.
 *
 * An input with an odd first byte is the code of a function as it is: what our
 * compiler accepts is valid for wasmtime. Any other input is a list of choices
 * that make a valid function of the core's dialect. Our compiler accepts it.
 * Both run it, end in the same way, and leave the same memory. */
#include "../v86/jit_run.h"

#include <wasmtime.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool ok)
{
    if (!ok)
        abort();
}

/* --- wasmtime --- */

static wasm_engine_t *
reference_engine(void)
{
    static wasm_engine_t *engine; /* one for all inputs: it is dear to make */

    if (!engine) {
        wasm_config_t *config = wasm_config_new();
        wasmtime_config_parallel_compilation_set(config, false);
        wasmtime_config_cranelift_opt_level_set(config,
                                                WASMTIME_OPT_LEVEL_NONE);
        engine = wasm_engine_new_with_config(config);
    }
    return engine;
}

static bool
reference_accepts(const struct jit_bytes *module)
{
    wasmtime_error_t *error =
        wasmtime_module_validate(reference_engine(), module->b, module->len);

    if (error)
        wasmtime_error_delete(error);
    return !error;
}

static uint64_t
value_bits(const wasmtime_val_t *v)
{
    uint64_t bits = 0;

    switch (v->kind) {
    case WASMTIME_I32:
        return (uint32_t)v->of.i32;
    case WASMTIME_F32:
        memcpy(&bits, &v->of.f32, sizeof v->of.f32);
        return bits;
    case WASMTIME_F64:
        memcpy(&bits, &v->of.f64, sizeof v->of.f64);
        return bits;
    default:
        return (uint64_t)v->of.i64;
    }
}

struct reference {
    wasmtime_store_t *store;
    wasmtime_context_t *context;
    wasmtime_memory_t memory;
};

/* The functions of jit_run.h, with values of wasmtime. */
static wasm_trap_t *
reference_callback(void *env, wasmtime_caller_t *caller,
                   const wasmtime_val_t *args, size_t count,
                   wasmtime_val_t *results, size_t result_count)
{
    struct reference *r = env;
    uint8_t *memory =
        wasmtime_memory_data(wasmtime_caller_context(caller), &r->memory);
    uint64_t a[5] = {0}, sum;

    for (size_t i = 0; i < count; i++)
        a[i] = value_bits(&args[i]);
    if (!count)
        memcpy(a, (const uint64_t[]){1, 2, 3, 4, 5}, sizeof a);
    sum = jit_run_mix(memory, a[0], a[1], a[2], a[3], a[4]);
    if (!result_count)
        return NULL;
    results[0] = (wasmtime_val_t){.kind = WASMTIME_I32};
    results[0].of.i32 = (int32_t)sum;
    if (count == 3) {
        results[0].kind = WASMTIME_I64;
        results[0].of.i64 = (int64_t)sum;
    }
    return NULL;
}

static wasm_valtype_t *
reference_type(char type)
{
    return wasm_valtype_new(type == 'i'   ? WASM_I32
                            : type == 'l' ? WASM_I64
                            : type == 'f' ? WASM_F32
                                          : WASM_F64);
}

static wasmtime_extern_t
reference_function(struct reference *r, const struct core_symbol *s)
{
    wasm_valtype_t *params[5], *results[1];
    wasm_valtype_vec_t param_vec, result_vec;
    wasmtime_extern_t item = {.kind = WASMTIME_EXTERN_FUNC};
    size_t n = strlen(s->params), result_count = s->result != 'v';

    for (size_t i = 0; i < n; i++)
        params[i] = reference_type(s->params[i]);
    if (result_count)
        results[0] = reference_type(s->result);
    wasm_valtype_vec_new(&param_vec, n, params);
    wasm_valtype_vec_new(&result_vec, result_count, results);
    wasm_functype_t *type = wasm_functype_new(&param_vec, &result_vec);
    wasmtime_func_new(r->context, type, reference_callback, r, NULL,
                      &item.of.func);
    wasm_functype_delete(type);
    return item;
}

static void
reference_init(struct reference *r, const uint8_t *memory)
{
    wasm_memorytype_t *type = NULL;

    r->store = wasmtime_store_new(reference_engine(), NULL, NULL);
    r->context = wasmtime_store_context(r->store);
    must(!wasmtime_memorytype_new(1, true, 1, false, false, 16, &type));
    must(!wasmtime_memory_new(r->context, type, &r->memory));
    wasm_memorytype_delete(type);
    memcpy(wasmtime_memory_data(r->context, &r->memory), memory,
           JIT_RUN_MEMORY);
}

static wasmtime_func_t
reference_instantiate(struct reference *r, const struct jit_bytes *wasm)
{
    wasmtime_extern_t imports[JIT_RUN_SYMBOLS + 1], item;
    wasmtime_module_t *module = NULL;
    wasmtime_instance_t instance;
    wasm_trap_t *trap = NULL;

    for (int i = 0; i < JIT_RUN_SYMBOLS; i++)
        imports[i] = reference_function(r, &jit_run_symbols[i]);
    imports[JIT_RUN_SYMBOLS].kind = WASMTIME_EXTERN_MEMORY;
    imports[JIT_RUN_SYMBOLS].of.memory = r->memory;
    must(!wasmtime_module_new(reference_engine(), wasm->b, wasm->len, &module));
    must(!wasmtime_instance_new(r->context, module, imports,
                                JIT_RUN_SYMBOLS + 1, &instance, &trap));
    wasmtime_module_delete(module);
    must(wasmtime_instance_export_get(r->context, &instance, "f", 1, &item));
    return item.of.func;
}

/* Runs the module on a copy of the memory, which it replaces. Returns false if
 * it traps. */
static bool
reference_run(const struct jit_bytes *wasm, uint32_t state, uint8_t *memory)
{
    struct reference r;
    wasm_trap_t *trap = NULL;
    wasmtime_val_t arg = {.kind = WASMTIME_I32};

    arg.of.i32 = (int32_t)state;
    reference_init(&r, memory);
    wasmtime_func_t f = reference_instantiate(&r, wasm);
    must(!wasmtime_func_call(r.context, &f, &arg, 1, NULL, 0, &trap));
    memcpy(memory, wasmtime_memory_data(r.context, &r.memory), JIT_RUN_MEMORY);
    if (trap)
        wasm_trap_delete(trap);
    wasmtime_store_delete(r.store);
    return !trap;
}

/* --- functions made of choices --- */

/* The last local counts down the repetitions of all loops. */
#define LOCALS "iiiiiilllffddiiiiiii"
enum {
    FUEL = sizeof LOCALS - 1,
    DEPTH_MAX = 40,
    BLOCKS_MAX = 12,
    CODE_MAX = 4000,
};

struct maker_block {
    uint8_t opcode;
    char result;
    bool has_else;
    unsigned base;
};

struct maker {
    const uint8_t *p, *end;
    struct jit_bytes code;
    char stack[2 * DEPTH_MAX];
    unsigned depth, block_count;
    struct maker_block blocks[BLOCKS_MAX];
};

static unsigned
choose(struct maker *m, unsigned n)
{
    return m->p < m->end ? *m->p++ % n : 0;
}

static uint64_t
choose_bits(struct maker *m)
{
    static const uint64_t bits[] = {0,
                                    1,
                                    31,
                                    255,
                                    4095,
                                    0xffff,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0x8000000000000000,
                                    0xffffffffffffff80,
                                    0x123456789abcdef0};
    unsigned i = choose(m, 24);

    return i < 12 ? bits[i] : choose(m, 256) * 0x101u;
}

static struct maker_block *
top(struct maker *m)
{
    return &m->blocks[m->block_count - 1];
}

static char
local_type(unsigned local)
{
    return local ? LOCALS[local - 1] : 'i';
}

static void
emit(struct maker *m, unsigned opcode)
{
    jit_byte(&m->code, opcode);
}

static void
emit_local(struct maker *m, unsigned opcode, unsigned local)
{
    emit(m, opcode);
    emit(m, local);
}

static void
emit_i32(struct maker *m, uint32_t value)
{
    emit(m, 0x41);
    jit_signed(&m->code, (int32_t)value);
}

/* Pushes a new operand: a constant or a local. */
static void
push(struct maker *m, char type)
{
    unsigned local = choose(m, 2 * FUEL);
    bool is_wide = type == 'l' || type == 'd';

    m->stack[m->depth++] = type;
    for (unsigned i = 0; i < FUEL; i++, local++)
        if (local < 2 * FUEL - 4 && local_type(local % FUEL) == type) {
            emit_local(m, 0x20, local % FUEL);
            return;
        }
    if (!is_wide)
        emit_i32(m, (uint32_t)choose_bits(m));
    if (is_wide) {
        emit(m, 0x42);
        jit_signed(&m->code, (int64_t)choose_bits(m));
    }
    if (type == 'f' || type == 'd')
        emit(m, type == 'f' ? 0xbe : 0xbf);
}

/* Makes operands of these types be on top, with those that are there if they
 * fit, and counts them as popped. */
static void
pop(struct maker *m, const char *types)
{
    unsigned n = (unsigned)strlen(types);
    bool is_fit = m->depth - top(m)->base >= n &&
                  !memcmp(m->stack + m->depth - n, types, n);

    for (unsigned i = 0; i < n && !is_fit; i++)
        push(m, types[i]);
    m->depth -= n;
}

static void
drop_to(struct maker *m, unsigned depth)
{
    for (; m->depth > depth; m->depth--)
        emit(m, 0x1a);
}

/* An address, almost always inside the memory. */
static void
make_address(struct maker *m)
{
    pop(m, "i");
    unsigned kind = choose(m, 32);
    if (kind == 0)
        return;
    if (kind < 8) { /* as for the table of pages */
        emit_i32(m, 18);
        emit(m, 0x76);
        emit_i32(m, kind % 4);
        emit(m, 0x74);
        return;
    }
    emit_i32(m, 0x1fff);
    emit(m, 0x71);
}

static void
make_offset(struct maker *m)
{
    unsigned kind = choose(m, 64);

    emit(m, 0);
    jit_unsigned(&m->code, kind ? kind : 0x7ffffff0);
}

static void
make_fixed(struct maker *m)
{
    uint8_t opcode = (uint8_t)choose(m, 256);
    const struct jit_op *op = jit_op_find(opcode);

    if (!op->params || op->immediate == JIT_I32 || op->immediate == JIT_I64)
        return;
    if (op->immediate == JIT_NONE) {
        pop(m, op->params);
        emit(m, opcode);
    } else {
        make_address(m);
        m->stack[m->depth++] = 'i';
        if (op->params[1])
            push(m, op->params[1]);
        m->depth -= (unsigned)strlen(op->params);
        emit(m, opcode);
        make_offset(m);
    }
    if (op->result != 'v')
        m->stack[m->depth++] = op->result;
}

static void
make_local(struct maker *m)
{
    unsigned local = choose(m, FUEL);
    char type[2] = {local_type(local), 0};

    pop(m, type);
    bool is_tee = choose(m, 2);
    emit_local(m, is_tee ? 0x22 : 0x21, local);
    if (is_tee)
        m->stack[m->depth++] = type[0];
}

static void
make_call(struct maker *m)
{
    unsigned i = choose(m, JIT_RUN_SYMBOLS);

    pop(m, jit_run_symbols[i].params);
    emit_local(m, 0x10, i);
    if (jit_run_symbols[i].result != 'v')
        m->stack[m->depth++] = jit_run_symbols[i].result;
}

static void
make_open(struct maker *m)
{
    static const uint8_t opcodes[] = {0x02, 0x03, 0x04};
    uint8_t opcode = opcodes[choose(m, 3)];
    char result = "vvil"[choose(m, 4)];

    if (m->block_count == BLOCKS_MAX)
        return;
    if (opcode == 0x04)
        pop(m, "i");
    emit(m, opcode);
    emit(m, result == 'v' ? 0x40 : jit_type_byte(result));
    m->blocks[m->block_count++] =
        (struct maker_block){opcode, result, false, m->depth};
}

/* Ends the innermost block, or the first part of an if. */
static void
make_close(struct maker *m)
{
    struct maker_block *b = top(m);

    drop_to(m, b->base);
    if (b->result != 'v')
        push(m, b->result);
    m->depth = b->base;
    if (b->opcode == 0x04 && !b->has_else) {
        b->has_else = true;
        emit(m, 0x05);
        return;
    }
    emit(m, 0x0b);
    m->block_count--;
    if (b->result != 'v')
        m->stack[m->depth++] = b->result;
}

/* Chooses a block to leave, which is not a loop: they would not end. */
static unsigned
choose_target(struct maker *m)
{
    unsigned i = choose(m, m->block_count);

    while (m->blocks[m->block_count - 1 - i].opcode == 0x03)
        i++;
    return i;
}

static void
make_branch(struct maker *m)
{
    unsigned target = choose_target(m), kind = choose(m, 8);
    char result = m->blocks[m->block_count - 1 - target].result;
    char types[2] = {result == 'v' ? 0 : result, 0};

    pop(m, types);
    m->depth += (unsigned)strlen(types);
    if (kind > 1)
        push(m, 'i');
    emit_local(m, kind > 1 ? 0x0d : 0x0c, target);
    if (kind > 1)
        m->depth--;
}

static void
make_table(struct maker *m)
{
    unsigned n = choose(m, 5);

    pop(m, "i");
    emit(m, 0x0e);
    emit(m, n);
    for (unsigned i = 0; i <= n; i++) {
        unsigned target = choose_target(m);
        bool has_result = m->blocks[m->block_count - 1 - target].result != 'v';
        emit(m, has_result ? m->block_count - 1 : target);
    }
}

/* Repeats the innermost loop while there is fuel. */
static void
make_repeat(struct maker *m)
{
    for (unsigned i = 0; i < m->block_count; i++) {
        if (m->blocks[m->block_count - 1 - i].opcode != 0x03)
            continue;
        emit_local(m, 0x20, FUEL);
        emit_i32(m, 1);
        emit(m, 0x6b);
        emit_local(m, 0x22, FUEL);
        emit_i32(m, 0);
        emit(m, 0x4a);
        emit_local(m, 0x0d, i);
        return;
    }
}

static void
make_select(struct maker *m)
{
    char type = "ilfd"[choose(m, 4)];

    push(m, type);
    push(m, type);
    push(m, 'i');
    emit(m, 0x1b);
    m->depth -= 2;
}

/* The guard of an access to the guest's memory, as the core writes it. */
static void
make_guard(struct maker *m)
{
    unsigned local = choose(m, 6), mask = choose(m, 8);
    bool is_double = choose(m, 2);

    emit_local(m, 0x02, 0x40);
    emit_local(m, 0x20, local);
    emit_i32(m, mask);
    emit(m, 0x71);
    emit_i32(m, mask & 1);
    emit(m, 0x46);
    if (is_double) {
        emit_local(m, 0x20, choose(m, 6));
        emit_i32(m, 3);
        emit(m, 0x71);
        emit_i32(m, choose(m, 4));
        emit(m, 0x4c);
        emit(m, 0x71);
    }
    emit_local(m, 0x0d, 0);
    emit_local(m, 0x20, local);
    emit_i32(m, mask);
    emit_local(m, 0x10, 2);
    emit_local(m, 0x22, choose(m, 6));
    emit_i32(m, 1);
    emit(m, 0x71);
    emit_local(m, 0x0d, m->block_count); /* out of the function */
    emit(m, 0x0b);
}

static void
make_statement(struct maker *m)
{
    static void (*const kinds[])(struct maker *) = {
        make_fixed, make_fixed, make_fixed,  make_fixed, make_fixed,
        make_fixed, make_local, make_local,  make_local, make_call,
        make_open,  make_close, make_branch, make_table, make_repeat,
        make_guard, make_guard, make_select};
    unsigned kind = choose(m, sizeof kinds / sizeof *kinds + 3);

    if (kind < sizeof kinds / sizeof *kinds) {
        if (kinds[kind] != make_close || m->block_count > 1)
            kinds[kind](m);
    } else if (choose(m, 16) == 0) {
        emit(m, choose(m, 2) ? 0x0f : 0x00);
    } else {
        push(m, "ilfd"[choose(m, 4)]);
    }
    if (m->depth > DEPTH_MAX)
        drop_to(m, top(m)->base);
}

static void
make_function(struct maker *m)
{
    m->blocks[m->block_count++] = (struct maker_block){0x02, 'v', false, 0};
    emit_i32(m, 50);
    emit_local(m, 0x21, FUEL);
    while (m->p < m->end && m->code.len < CODE_MAX)
        make_statement(m);
    while (m->block_count)
        make_close(m);
}

/* --- both --- */

static void
fill(uint8_t *memory, uint32_t seed)
{
    for (unsigned i = 0; i < JIT_RUN_MEMORY; i++) {
        seed = seed * 1664525 + 1013904223;
        memory[i] = (uint8_t)(seed >> 24);
    }
}

static struct jit_run *
compiler(void)
{
    static struct jit_run run; /* one for all inputs: 8 GiB of addresses */

    if (!run.arena)
        jit_run_init(&run);
    return &run;
}

static void
check_acceptance(const uint8_t *code, size_t len)
{
    static struct jit_bytes module;

    jit_module_make(&module, LOCALS, code, len);
    core_code *f = jit_run_compile(compiler(), module.b, module.len);
    if (!f)
        return;
    jit_arena_remove(compiler()->arena, (void *)f);
    must(reference_accepts(&module));
}

static void
check_results(const uint8_t *choices, size_t len)
{
    static struct maker m;
    static struct jit_bytes module;
    static uint8_t memory[JIT_RUN_MEMORY];
    uint32_t state = len > 2 ? choices[1] * 257u : 0;

    memset(&m, 0, sizeof m);
    m.p = choices;
    m.end = choices + len;
    make_function(&m);
    jit_module_make(&module, LOCALS, m.code.b, m.code.len);
    must(reference_accepts(&module));
    fill(memory, state);
    memcpy(compiler()->memory, memory, sizeof memory);

    core_code *f = jit_run_compile(compiler(), module.b, module.len);
    must(f);
    bool has_returned = jit_run_code(compiler(), f, state);
    jit_arena_remove(compiler()->arena, (void *)f);
    must(reference_run(&module, state, memory) == has_returned);
    must(!memcmp(compiler()->memory, memory, sizeof memory));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size || size > CODE_MAX)
        return 0;
    if (data[0] & 1)
        check_acceptance(data + 1, size - 1);
    else
        check_results(data + 1, size - 1);
    return 0;
}

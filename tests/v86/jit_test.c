/* The compiler, on functions of the core's dialect: each instruction with its
 * operands in each place, control flow, calls, traps, and refusals. */
#include "../unit/test.h"
#include "jit_run.h"

/* Opcodes of WebAssembly. */
enum {
    BLOCK = 0x02,
    LOOP = 0x03,
    IF = 0x04,
    ELSE = 0x05,
    END = 0x0b,
    BR = 0x0c,
    BR_IF = 0x0d,
    BR_TABLE = 0x0e,
    RETURN = 0x0f,
    CALL = 0x10,
    DROP = 0x1a,
    SELECT = 0x1b,
    GET = 0x20,
    SET = 0x21,
    TEE = 0x22,
    LOAD = 0x28,
    LOAD64 = 0x29,
    STORE = 0x36,
    STORE64 = 0x37,
    CONST = 0x41,
    CONST64 = 0x42,
    EQZ = 0x45,
    EQ = 0x46,
    ADD = 0x6a,
    SUB = 0x6b,
    AND = 0x71,
    VOID = 0x40,
    I32 = 0x7f,
    I64 = 0x7e,
};

/* Places in memory: two operands, and the result. */
enum { A_AT = 16, B_AT = 24, RESULT_AT = 32 };

/* Locals of each test: local 0 is the parameter. There are more than the
 * compiler has registers. */
#define LOCALS "iillffddiiiiiiii"

struct world {
    struct jit_run run;
    struct jit_bytes code, module;
};

static struct world *
world_new(void)
{
    struct world *w = calloc(1, sizeof *w);

    if (!w)
        abort();
    jit_run_init(&w->run);
    return w;
}

static void
world_free(struct world *w)
{
    jit_run_fini(&w->run);
    free(w);
}

#define EMIT(w, ...)                                     \
    jit_copy(&(w)->code, (const uint8_t[]){__VA_ARGS__}, \
             sizeof((const uint8_t[]){__VA_ARGS__}))

static void
emit_constant(struct world *w, char type, uint64_t value)
{
    jit_byte(&w->code, type == 'l' || type == 'd' ? CONST64 : CONST);
    jit_signed(&w->code,
               type == 'l' || type == 'd' ? (int64_t)value : (int32_t)value);
    if (type == 'f' || type == 'd')
        jit_byte(&w->code, type == 'f' ? 0xbe : 0xbf);
}

static void
emit_access(struct world *w, char type, unsigned base, unsigned offset)
{
    jit_byte(&w->code, base + (type == 'i'   ? 0
                               : type == 'l' ? 1
                               : type == 'f' ? 2
                                             : 3));
    jit_byte(&w->code, 0);
    jit_byte(&w->code, offset);
}

/* Compiles the code, runs it, and forgets it. Returns false if it trapped. */
static bool
run_with(struct world *w, const char *locals, uint32_t state)
{
    jit_module_make(&w->module, locals, w->code.b, w->code.len);
    w->code.len = 0;

    core_code *code = jit_run_compile(&w->run, w->module.b, w->module.len);
    CHECK(code != NULL);
    if (!code) {
        test_failed(__FILE__, __LINE__, w->run.refusal);
        return false;
    }
    bool has_returned = jit_run_code(&w->run, code, state);
    jit_arena_remove(w->run.arena, (void *)code);
    return has_returned;
}

static bool
run(struct world *w, uint32_t state)
{
    return run_with(w, LOCALS, state);
}

static const char *
refusal(struct world *w)
{
    jit_module_make(&w->module, LOCALS, w->code.b, w->code.len);
    w->code.len = 0;

    core_code *code = jit_run_compile(&w->run, w->module.b, w->module.len);
    if (code)
        jit_arena_remove(w->run.arena, (void *)code);
    return code ? NULL : w->run.refusal;
}

static uint64_t
result_at(struct world *w, unsigned at)
{
    uint64_t value;

    memcpy(&value, w->run.memory + at, sizeof value);
    return value;
}

/* --- instructions with one or two operands --- */

struct operation {
    uint8_t opcode;
    const char *params;
    char result;
    uint64_t (*want)(uint64_t a, uint64_t b);
};

#define OPERATION(name, expression)              \
    static uint64_t name(uint64_t a, uint64_t b) \
    {                                            \
        (void)b;                                 \
        return (uint64_t)(expression);           \
    }
#define A32  ((uint32_t)a)
#define B32  ((uint32_t)b)
#define SA32 ((int32_t)a)
#define SB32 ((int32_t)b)
#define SA64 ((int64_t)a)
#define SB64 ((int64_t)b)
#define ROTL(type, bits, x, n) \
    ((type)(x) << ((n) & (bits - 1)) | (type)(x) >> (-(n) & (bits - 1)))

OPERATION(i32_eqz, !A32)
OPERATION(i32_eq, A32 == B32)
OPERATION(i32_ne, A32 != B32)
OPERATION(i32_lt_s, SA32 < SB32)
OPERATION(i32_lt_u, A32 < B32)
OPERATION(i32_gt_s, SA32 > SB32)
OPERATION(i32_gt_u, A32 > B32)
OPERATION(i32_le_s, SA32 <= SB32)
OPERATION(i32_le_u, A32 <= B32)
OPERATION(i32_ge_s, SA32 >= SB32)
OPERATION(i32_ge_u, A32 >= B32)
OPERATION(i64_eq, a == b)
OPERATION(i64_ne, a != b)
OPERATION(i64_lt_s, SA64 < SB64)
OPERATION(i64_lt_u, a < b)
OPERATION(i64_gt_s, SA64 > SB64)
OPERATION(i64_gt_u, a > b)
OPERATION(i64_le_s, SA64 <= SB64)
OPERATION(i64_le_u, a <= b)
OPERATION(i64_ge_s, SA64 >= SB64)
OPERATION(i64_ge_u, a >= b)
OPERATION(i32_add, A32 + B32)
OPERATION(i32_sub, A32 - B32)
OPERATION(i32_mul, A32 *B32)
OPERATION(i32_and, A32 &B32)
OPERATION(i32_or, A32 | B32)
OPERATION(i32_xor, A32 ^ B32)
OPERATION(i32_shl, A32 << (b & 31))
OPERATION(i32_shr_s, (uint32_t)(SA32 >> (b & 31)))
OPERATION(i32_shr_u, A32 >> (b & 31))
OPERATION(i32_rotl, ROTL(uint32_t, 32, a, B32))
OPERATION(i32_rotr, ROTL(uint32_t, 32, a, 0 - B32))
OPERATION(i64_add, a + b)
OPERATION(i64_sub, a - b)
OPERATION(i64_mul, a *b)
OPERATION(i64_div_u, a / b)
OPERATION(i64_rem_u, a % b)
OPERATION(i64_and, a &b)
OPERATION(i64_or, a | b)
OPERATION(i64_xor, a ^ b)
OPERATION(i64_shl, a << (b & 63))
OPERATION(i64_shr_s, SA64 >> (b & 63))
OPERATION(i64_shr_u, a >> (b & 63))
OPERATION(i64_rotl, ROTL(uint64_t, 64, a, b))
OPERATION(i64_rotr, ROTL(uint64_t, 64, a, 0 - b))
OPERATION(i32_wrap, A32)
OPERATION(i64_extend_s, (int64_t)SA32)
OPERATION(i64_extend_u, A32)
OPERATION(same, a)

static const struct operation operations[] = {
    {0x45, "i", 'i', i32_eqz},      {0x46, "ii", 'i', i32_eq},
    {0x47, "ii", 'i', i32_ne},      {0x48, "ii", 'i', i32_lt_s},
    {0x49, "ii", 'i', i32_lt_u},    {0x4a, "ii", 'i', i32_gt_s},
    {0x4b, "ii", 'i', i32_gt_u},    {0x4c, "ii", 'i', i32_le_s},
    {0x4d, "ii", 'i', i32_le_u},    {0x4e, "ii", 'i', i32_ge_s},
    {0x4f, "ii", 'i', i32_ge_u},    {0x51, "ll", 'i', i64_eq},
    {0x52, "ll", 'i', i64_ne},      {0x53, "ll", 'i', i64_lt_s},
    {0x54, "ll", 'i', i64_lt_u},    {0x55, "ll", 'i', i64_gt_s},
    {0x56, "ll", 'i', i64_gt_u},    {0x57, "ll", 'i', i64_le_s},
    {0x58, "ll", 'i', i64_le_u},    {0x59, "ll", 'i', i64_ge_s},
    {0x5a, "ll", 'i', i64_ge_u},    {0x6a, "ii", 'i', i32_add},
    {0x6b, "ii", 'i', i32_sub},     {0x6c, "ii", 'i', i32_mul},
    {0x71, "ii", 'i', i32_and},     {0x72, "ii", 'i', i32_or},
    {0x73, "ii", 'i', i32_xor},     {0x74, "ii", 'i', i32_shl},
    {0x75, "ii", 'i', i32_shr_s},   {0x76, "ii", 'i', i32_shr_u},
    {0x77, "ii", 'i', i32_rotl},    {0x78, "ii", 'i', i32_rotr},
    {0x7c, "ll", 'l', i64_add},     {0x7d, "ll", 'l', i64_sub},
    {0x7e, "ll", 'l', i64_mul},     {0x80, "ll", 'l', i64_div_u},
    {0x82, "ll", 'l', i64_rem_u},   {0x83, "ll", 'l', i64_and},
    {0x84, "ll", 'l', i64_or},      {0x85, "ll", 'l', i64_xor},
    {0x86, "ll", 'l', i64_shl},     {0x87, "ll", 'l', i64_shr_s},
    {0x88, "ll", 'l', i64_shr_u},   {0x89, "ll", 'l', i64_rotl},
    {0x8a, "ll", 'l', i64_rotr},    {0xa7, "l", 'i', i32_wrap},
    {0xac, "i", 'l', i64_extend_s}, {0xad, "i", 'l', i64_extend_u},
    {0xbc, "f", 'i', i32_wrap},     {0xbd, "d", 'l', same},
    {0xbe, "i", 'f', i32_wrap},     {0xbf, "l", 'd', same},
};

/* Where an operand is when its instruction is translated. Local 1 or 3 has a
 * register because it is used often, local 2 or 4 is in the frame. */
enum place { IN_CONSTANT, IN_LOADED, IN_LOCAL, IN_FRAME, PLACES };

static unsigned
local_of(char type, enum place place)
{
    unsigned first = type == 'i' ? 1 : type == 'l' ? 3 : type == 'f' ? 5 : 7;

    return first + (place == IN_FRAME);
}

static void
emit_operand(struct world *w, char type, enum place place, uint64_t value,
             unsigned at)
{
    if (place == IN_CONSTANT) {
        emit_constant(w, type, value);
        return;
    }
    EMIT(w, CONST, 0);
    emit_access(w, type, LOAD, at);
    if (place == IN_LOADED)
        return;
    jit_byte(&w->code, SET);
    jit_byte(&w->code, local_of(type, place));
    jit_byte(&w->code, GET);
    jit_byte(&w->code, local_of(type, place));
}

/* Makes the other locals popular, so that the one of IN_FRAME has no
 * register. */
static void
emit_popular_locals(struct world *w, char type)
{
    unsigned spare = local_of(type, IN_FRAME);

    for (unsigned local = 1; local < sizeof LOCALS; local++)
        for (int n = 0; n < 9 && local != spare; n++)
            EMIT(w, GET, (uint8_t)local, DROP);
}

static void
check_operation(struct world *w, const struct operation *o, enum place pa,
                enum place pb, const uint64_t *values)
{
    uint64_t want = o->want(values[0], values[1]);

    memcpy(w->run.memory + A_AT, values, 2 * sizeof *values);
    memset(w->run.memory + RESULT_AT, 0, 8);
    emit_popular_locals(w, o->params[0]);
    EMIT(w, CONST, 0);
    emit_operand(w, o->params[0], pa, values[0], A_AT);
    if (o->params[1])
        emit_operand(w, o->params[1], pb, values[1], B_AT);
    jit_byte(&w->code, o->opcode);
    emit_access(w, o->result, STORE, RESULT_AT);
    EMIT(w, END);
    CHECK(run(w, 0));
    if (result_at(w, RESULT_AT) != want)
        test_failed_eq(__FILE__, o->opcode, "result",
                       (int64_t)result_at(w, RESULT_AT), (int64_t)want);
}

static const uint64_t operand_pairs[][2] = {
    {0, 1},
    {1, 1},
    {5, UINT64_MAX},
    {UINT64_MAX, 5},
    {0x8000000000000000, 0x80000000},
    {0x80000000, 0x7fffffff},
    {0x123456789abcdef0, 0xfedcba9876543217},
    {0xffff0000ffff, 33},
    {255, 0x100000000},
};

TEST(each_instruction_computes_as_defined_wherever_its_operands_are)
{
    struct world *w = world_new();

    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        for (int places = 0; places < PLACES * PLACES; places++)
            for (size_t n = 0; n < sizeof operand_pairs / 16; n++)
                check_operation(
                    w, &operations[i], (enum place)(places / PLACES),
                    (enum place)(places % PLACES), operand_pairs[n]);
    world_free(w);
}

/* --- memory --- */

TEST(loads_extend_and_stores_truncate)
{
    static const struct {
        uint8_t opcode;
        uint64_t want;
    } loads[] = {
        {0x2c, 0xffffff88}, {0x2d, 0x88},       {0x2e, 0xffff9988},
        {0x2f, 0x9988},     {0x28, 0xbbaa9988},
    };
    static const uint8_t bytes[] = {0x88, 0x99, 0xaa, 0xbb};
    struct world *w = world_new();

    memcpy(w->run.memory + A_AT, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        EMIT(w, CONST, 0, CONST, 10, loads[i].opcode, 0, 6, 0xad, STORE64, 0,
             RESULT_AT, END);
        CHECK(run(w, 0));
        CHECK_EQ(result_at(w, RESULT_AT), loads[i].want);
    }
    memset(w->run.memory + RESULT_AT, 0xff, 8);
    EMIT(w, CONST, 0, GET, 0, 0x3a, 0, RESULT_AT, CONST, 2, GET, 0, 0x3b, 0,
         RESULT_AT, END);
    CHECK(run(w, 0x12345678));
    CHECK_EQ(result_at(w, RESULT_AT), (int64_t)0xffffffff5678ff78);
    world_free(w);
}

TEST(constants_of_all_sizes_are_stored)
{
    static const uint64_t values[] = {0,
                                      127,
                                      0xffffffffffffff80,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff80000000,
                                      0x123456789abcdef0};
    struct world *w = world_new();

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        EMIT(w, CONST, 0);
        emit_constant(w, 'l', values[i]);
        EMIT(w, STORE64, 0, RESULT_AT, GET, 0);
        emit_constant(w, 'l', values[i]);
        EMIT(w, STORE64, 0, RESULT_AT + 8, END);
        CHECK(run(w, 0));
        CHECK_EQ(result_at(w, RESULT_AT), (int64_t)values[i]);
        CHECK_EQ(result_at(w, RESULT_AT + 8), (int64_t)values[i]);
    }
    world_free(w);
}

/* The shift becomes part of the address only if no bits are lost. */
TEST(shifted_addresses_wrap_at_32_bits)
{
    struct world *w = world_new();

    for (uint8_t count = 0; count < 5; count++) {
        uint64_t at = RESULT_AT;
        EMIT(w, CONST, 0, GET, 0, CONST, count, 0x76, CONST, count, 0x74, LOAD,
             0, 0, STORE, 0, RESULT_AT + 8, END);
        w->run.memory[RESULT_AT] = 77;
        CHECK(run(w, (uint32_t)at));
        CHECK_EQ(w->run.memory[RESULT_AT + 8], 77);
        if (count < 2)
            continue;
        /* The highest bit of state >> 1 is lost. */
        EMIT(w, CONST, 0, GET, 0, CONST, 1, 0x76, CONST, count, 0x74, LOAD, 0,
             0, STORE, 0, RESULT_AT + 8, END);
        w->run.memory[RESULT_AT + 8] = 0;
        CHECK(run(w, (uint32_t)((at >> count) << 1) | 2u << (32 - count)));
        CHECK_EQ(w->run.memory[RESULT_AT + 8], 77);
    }
    world_free(w);
}

TEST(an_access_outside_memory_is_a_trap)
{
    struct world *w = world_new();
    static const uint32_t addresses[] = {JIT_RUN_MEMORY, 0x7fffffff, 0x80000000,
                                         UINT32_MAX};

    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        EMIT(w, GET, 0, LOAD, 0, 0, DROP, END);
        CHECK(!run(w, addresses[i]));
        EMIT(w, GET, 0, CONST, 1, STORE, 0);
        jit_unsigned(&w->code, INT32_MAX);
        EMIT(w, END);
        CHECK(!run(w, addresses[i]));
        emit_constant(w, 'i', addresses[i]);
        EMIT(w, LOAD64, 0, 1, DROP, END);
        CHECK(!run(w, 0));
    }
    world_free(w);
}

TEST(an_operand_keeps_the_old_value_of_a_local_that_changes)
{
    struct world *w = world_new();

    /* 0 + (x, x = 9, x = x + 1 twice as tee): 5, 9, 10 and 11. */
    EMIT(w, CONST, 5, SET, 1, CONST, 0, GET, 1, CONST, 9, TEE, 1, GET, 1, CONST,
         1, ADD, TEE, 1, GET, 1, CONST, 1, ADD, TEE, 1, ADD, ADD, ADD, STORE, 0,
         RESULT_AT, END);
    CHECK(run(w, 0));
    CHECK_EQ(result_at(w, RESULT_AT) & UINT32_MAX, 5 + 9 + 10 + 11);
    world_free(w);
}

/* --- control flow --- */

TEST(a_loop_with_a_table_of_branches_visits_each_state)
{
    struct world *w = world_new();

    /* The parameter selects where to begin; each case adds a digit. */
    EMIT(w, BLOCK, VOID, BLOCK, VOID, BLOCK, VOID, BLOCK, VOID, GET, 0,
         BR_TABLE, 2, 0, 1, 2, END);
    EMIT(w, CONST, 0, CONST, 0, LOAD, 0, RESULT_AT, CONST, 1, ADD, STORE, 0,
         RESULT_AT, END);
    EMIT(w, CONST, 0, CONST, 0, LOAD, 0, RESULT_AT, CONST, 16, ADD, STORE, 0,
         RESULT_AT, END);
    EMIT(w, CONST, 0, CONST, 0, LOAD, 0, RESULT_AT);
    emit_constant(w, 'i', 256);
    EMIT(w, ADD, STORE, 0, RESULT_AT, END, END);
    struct jit_bytes code = w->code;
    static const uint32_t want[] = {0x111, 0x110, 0x100, 0x100};
    for (uint32_t state = 0; state < 4; state++) {
        w->code = code;
        memset(w->run.memory + RESULT_AT, 0, 8);
        CHECK(run(w, state == 3 ? UINT32_MAX : state));
        CHECK_EQ(result_at(w, RESULT_AT), want[state]);
    }
    world_free(w);
}

TEST(loops_count_and_leave)
{
    struct world *w = world_new();

    /* do { sum += n; } while (--n), with the sum in each kind of local. */
    for (unsigned sum = 1; sum < 3; sum++) {
        emit_popular_locals(w, 'i');
        EMIT(w, LOOP, VOID, GET, (uint8_t)sum, GET, 0, ADD, SET, (uint8_t)sum,
             GET, 0, CONST, 1, SUB, TEE, 0, BR_IF, 0, END, CONST, 0, GET,
             (uint8_t)sum, STORE, 0, RESULT_AT, END);
        CHECK(run(w, 1000));
        CHECK_EQ(result_at(w, RESULT_AT) & UINT32_MAX, 500500);
    }
    world_free(w);
}

TEST(blocks_have_results)
{
    struct world *w = world_new();

    for (uint32_t state = 0; state < 2; state++) {
        /* 100 + (state ? 7 : 8) + (block: state ? early 20 : 30) */
        EMIT(w, CONST, 0, GET, 0, CONST, 40, ADD, CONST, 60, ADD, GET, 0, IF,
             I32, CONST, 7, ELSE, CONST, 8, END, ADD, BLOCK, I32, CONST, 20,
             GET, 0, BR_IF, 0, DROP, CONST, 30, END, ADD, STORE, 0, RESULT_AT,
             END);
        CHECK(run(w, state));
        CHECK_EQ(result_at(w, RESULT_AT) & UINT32_MAX,
                 state ? 100 + 1 + 7 + 20 : 100 + 8 + 30);
        EMIT(w, CONST, 0, GET, 0, 0x45, IF, I64, CONST64, 1, ELSE, CONST64, 2,
             BR, 0, END, STORE64, 0, RESULT_AT, END);
        CHECK(run(w, state));
        CHECK_EQ(result_at(w, RESULT_AT), state ? 2 : 1);
    }
    world_free(w);
}

TEST(a_branch_that_is_not_taken_leaves_the_operands)
{
    struct world *w = world_new();

    /* The value of the branch has its place where another operand is. */
    EMIT(w, CONST, 0, BLOCK, I32, GET, 0, CONST, 1, ADD, BLOCK, VOID, END,
         CONST, 50, CONST, 0, BR_IF, 0, ADD, END, STORE, 0, RESULT_AT, END);
    CHECK(run(w, 3));
    CHECK_EQ(result_at(w, RESULT_AT) & UINT32_MAX, 54);
    world_free(w);
}

TEST(select_and_conditions_as_numbers)
{
    struct world *w = world_new();

    for (uint32_t state = 0; state < 3; state++) {
        EMIT(w, CONST, 0, GET, 0, CONST, 60, GET, 0, CONST, 1, EQ, SELECT, GET,
             0, CONST, 2, EQ, EQZ, ADD, GET, 0, CONST, 3, AND, EQZ, ADD, STORE,
             0, RESULT_AT, END);
        CHECK(run(w, state));
        static const int64_t want[] = {62, 2, 60};
        CHECK_EQ(result_at(w, RESULT_AT) & UINT32_MAX, want[state]);
        EMIT(w, CONST, 0, CONST64, 5, CONST64, 6, GET, 0, SELECT, STORE64, 0,
             RESULT_AT, END);
        CHECK(run(w, state));
        CHECK_EQ(result_at(w, RESULT_AT), state ? 5 : 6);
    }
    world_free(w);
}

/* The guard of each access to the guest's memory, as the core writes it: the
 * call is made if the number is not 1 or the page's end is crossed. */
TEST(the_check_of_a_page_calls_only_when_needed)
{
    static const struct {
        uint32_t address;
        int calls;
    } cases[] = {{1, 0},     {0xffd, 1},  {2, 1},
                 {0xffe, 1}, {0x1001, 0}, {0xff9, 0}};
    struct world *w = world_new();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(w->run.memory + JIT_RUN_RECORD, 0, 8);
        EMIT(w, BLOCK, VOID, GET, 0, CONST, 3, AND, CONST, 1, EQ, GET, 0);
        emit_constant(w, 'i', 0xfff);
        EMIT(w, AND);
        emit_constant(w, 'i', 0xffc);
        EMIT(w, 0x4c, AND, BR_IF, 0, GET, 0, CONST, 3, CALL, 2, TEE, 1, DROP,
             END, CONST, 0, GET, 1, STORE, 0, RESULT_AT, END);
        CHECK(run(w, cases[i].address));
        CHECK_EQ(result_at(w, JIT_RUN_RECORD) != 0, cases[i].calls);
        CHECK_EQ(result_at(w, RESULT_AT) & UINT32_MAX,
                 result_at(w, JIT_RUN_RECORD) & UINT32_MAX);
    }
    world_free(w);
}

/* --- calls --- */

/* Sets the locals 1, 2 and 9 to 16 to their numbers times 3. */
static void
emit_numbered_locals(struct world *w)
{
    for (uint8_t local = 1; local < sizeof LOCALS; local++)
        if (local < 3 || local > 8)
            EMIT(w, CONST, (uint8_t)(3 * (local % 16)), SET, local);
}

TEST(calls_get_their_arguments_and_keep_locals_and_operands)
{
    struct world *w = world_new();
    uint8_t *memory = calloc(1, JIT_RUN_MEMORY);
    uint32_t want, sum = 0;

    emit_numbered_locals(w);
    /* 1000 below a call with five arguments from locals of each kind */
    EMIT(w, CONST, 0, CONST, 36, GET, 0, ADD, GET, 16, GET, 15, GET, 14, GET,
         13, GET, 2, CALL, 4, ADD);
    for (uint8_t local = 9; local < sizeof LOCALS; local++) {
        EMIT(w, GET, local, ADD);
        sum += 3u * (local % 16);
    }
    EMIT(w, STORE, 0, RESULT_AT, END);
    CHECK(run(w, 964));
    want = jit_run_iiiii_i(memory, 0, 45, 42, 39, 6) + 1000 + sum;
    CHECK_EQ(result_at(w, RESULT_AT) & UINT32_MAX, want);

    /* Numbers of 64 bits, and floats as bits. */
    memset(w->run.memory, 0, JIT_RUN_MEMORY);
    memset(memory, 0, JIT_RUN_MEMORY);
    EMIT(w, CONST, 0, GET, 0, CONST64, 0x7f, CONST, 9, CALL, 3, STORE64, 0,
         RESULT_AT, CONST, 0, GET, 0, 0xbe, CONST64, 33, 0xbf, CALL, 5, STORE,
         0, RESULT_AT + 8, CALL, 0, GET, 0, CALL, 1, END);
    CHECK(run(w, 0x3f800000));
    CHECK_EQ(result_at(w, RESULT_AT),
             (int64_t)jit_run_ili_l(memory, 0x3f800000, UINT64_MAX, 9));
    uint64_t bits = 33;
    double number;
    memcpy(&number, &bits, sizeof number);
    CHECK_EQ(result_at(w, RESULT_AT + 8), jit_run_fd_i(memory, 1.0f, number));
    jit_run_v(memory);
    jit_run_i_v(memory, 0x3f800000);
    CHECK(!memcmp(memory + JIT_RUN_RECORD, w->run.memory + JIT_RUN_RECORD, 8));
    free(memory);
    world_free(w);
}

TEST(many_operands_go_to_the_frame)
{
    struct world *w = world_new();

    EMIT(w, CONST, 0);
    for (int i = 0; i < 40; i++)
        EMIT(w, GET, 0, CONST, 1, ADD);
    for (int i = 0; i < 39; i++)
        EMIT(w, ADD);
    EMIT(w, STORE, 0, RESULT_AT, END);
    CHECK(run(w, 1));
    CHECK_EQ(result_at(w, RESULT_AT) & UINT32_MAX, 80);
    world_free(w);
}

TEST(unreachable_and_division_by_zero_are_traps)
{
    struct world *w = world_new();

    EMIT(w, GET, 0, IF, VOID, 0x00, END, END);
    CHECK(!run(w, 1));
    EMIT(w, GET, 0, IF, VOID, 0x00, END, END);
    CHECK(run(w, 0));
    EMIT(w, CONST64, 1, GET, 0, 0xad, 0x80, DROP, END);
    CHECK(!run(w, 0));
    EMIT(w, CONST64, 1, GET, 0, 0xad, 0x82, DROP, END);
    CHECK(run(w, 1));
    world_free(w);
}

TEST(code_that_cannot_be_reached_is_checked_and_skipped)
{
    struct world *w = world_new();

    EMIT(w, BLOCK, I32, GET, 0, BR, 0, ADD, LOOP, VOID, GET, 1, DROP, END, BR,
         0, END, SET, 1, CONST, 0, GET, 1, STORE, 0, RESULT_AT, RETURN, LOOP,
         I64, CALL, 2, DROP, CONST64, 3, END, DROP, GET, 9, BR_TABLE, 0, 0,
         END);
    CHECK(run(w, 6));
    CHECK_EQ(result_at(w, RESULT_AT) & UINT32_MAX, 6);
    world_free(w);
}

/* --- refusals --- */

#define CODE(...)                               \
    {                                           \
        sizeof((const uint8_t[]){__VA_ARGS__}), \
        {                                       \
            __VA_ARGS__                         \
        }                                       \
    }

TEST(code_that_is_not_valid_is_refused)
{
    static const struct {
        size_t len;
        uint8_t bytes[16];
    } codes[] = {
        CODE(GET, 0),                                 /* no end */
        CODE(END, END),                               /* code behind the end */
        CODE(ADD, END),                               /* no operands */
        CODE(CONST, 1, ADD, DROP, END),               /* one operand */
        CODE(CONST64, 1, CONST, 1, ADD, DROP, END),   /* i64 + i32 */
        CODE(CONST64, 1, EQZ, DROP, END),             /* eqz of an i64 */
        CODE(CONST64, 0, LOAD, 0, 0, DROP, END),      /* an i64 address */
        CODE(CONST, 0, CONST64, 0, STORE, 0, 0, END), /* i32.store of i64 */
        CODE(CONST, 1, END),                          /* an operand remains */
        CODE(CONST, 1, BLOCK, VOID, DROP, END, END),  /* of the outer block */
        CODE(BLOCK, I32, END, DROP, END),             /* no result */
        CODE(BLOCK, I32, CONST64, 1, END, DROP, END), /* another result */
        CODE(GET, 0, IF, I32, CONST, 1, END, DROP, END), /* no else */
        CODE(BLOCK, VOID, ELSE, END, END),               /* else without if */
        CODE(GET, 0, IF, VOID, ELSE, ELSE, END, END),    /* two of them */
        CODE(CONST64, 0, IF, VOID, END, END),            /* if of an i64 */
        CODE(BLOCK, 0x00, END, END),                     /* a type by number */
        CODE(BR, 1, END),            /* out of the function */
        CODE(GET, 0, BR_IF, 1, END), /* the same */
        CODE(BLOCK, I32, CONST64, 1, BR, 0, END, DROP, END),
        CODE(BLOCK, I32, GET, 0, BR_IF, 0, END, DROP, END),
        CODE(GET, 0, BR_TABLE, 1, 0, 1, END),   /* out of the function */
        CODE(GET, 0, BR_TABLE, 100, 0, 0, END), /* beyond the code */
        CODE(BLOCK, I32, CONST, 1, GET, 0, BR_TABLE, 0, 0, END, DROP, END),
        CODE(GET, 17, DROP, END),           /* no such local */
        CODE(CONST64, 1, SET, 0, END),      /* an i64 in an i32 */
        CODE(CALL, 0, DROP, END),           /* no result */
        CODE(CALL, 6, END),                 /* no such function */
        CODE(CONST, 1, CALL, 2, DROP, END), /* one argument */
        CODE(CONST, 1, CONST64, 1, CALL, 2, DROP, END),
        CODE(CONST, 1, CONST64, 1, CONST, 1, SELECT, DROP, END),
        CODE(GET, 0, LOAD, 3, 0, DROP, END), /* alignment of 8 */
        CODE(GET, 0, LOAD, 0, 0x80, 0x80, 0x80, 0x80, 8, DROP, END), /* 2 GiB */
        CODE(CONST, 0x80, 0x80, 0x80, 0x80, 0x10, DROP, END), /* 36 bits */
        CODE(CONST, 0x80, 0x80, 0x80, 0x80, 0x80, 0, DROP, END),
        CODE(RETURN, CONST64, 1, EQZ, DROP, END), /* not reached */
        CODE(RETURN, CONST, 1, END),              /* not reached */
        CODE(RETURN, 0xfe, END),                  /* not reached */
        CODE(0x11, 0, 0, END),                    /* call_indirect */
        CODE(0x3f, 0, DROP, END),                 /* memory.size */
        CODE(0x43, 0, 0, 0, 0, DROP, END),        /* f32.const */
        CODE(0xfc, 0, END),                       /* prefixes */
    };
    struct world *w = world_new();

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        jit_copy(&w->code, codes[i].bytes, codes[i].len);
        if (!refusal(w))
            test_failed_eq(__FILE__, __LINE__, "accepted code", (int64_t)i, -1);
    }
    world_free(w);
}

TEST(code_beyond_the_limits_is_refused)
{
    struct world *w = world_new();

    for (int i = 0; i <= JIT_DEPTH_MAX; i++)
        EMIT(w, GET, 0);
    for (int i = 0; i <= JIT_DEPTH_MAX; i++)
        EMIT(w, DROP);
    EMIT(w, END);
    CHECK(refusal(w) != NULL);
    for (int i = 0; i < JIT_NESTING_MAX; i++)
        EMIT(w, BLOCK, VOID);
    for (int i = 0; i <= JIT_NESTING_MAX; i++)
        EMIT(w, END);
    CHECK(refusal(w) != NULL);
    jit_module_make(&w->module,
                    "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii"
                    "iiiiiiiiiiiiiiiiiiiiiiii",
                    (const uint8_t[]){END}, 1);
    CHECK(!jit_run_compile(&w->run, w->module.b, w->module.len));
    world_free(w);
}

/* Each change of a byte gives another module or a refusal, never a crash. */
TEST(damaged_modules_are_refused)
{
    struct world *w = world_new();

    EMIT(w, GET, 0, CONST, 5, CALL, 2, SET, 1, END);
    CHECK(!refusal(w));
    size_t len = w->module.len;
    for (size_t i = 0; i < len; i++)
        CHECK(!jit_run_compile(&w->run, w->module.b, i));
    jit_byte(&w->module, 0);
    CHECK(!jit_run_compile(&w->run, w->module.b, len + 1));
    for (size_t i = 0; i < 8 * len; i++) {
        w->module.b[i / 8] ^= (uint8_t)(1 << i % 8);
        core_code *code = jit_run_compile(&w->run, w->module.b, len);
        if (code)
            jit_arena_remove(w->run.arena, (void *)code);
        w->module.b[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    world_free(w);
}

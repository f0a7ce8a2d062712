/* The compiler with the core: the same programs with and without it. */
#include "../unit/test.h"
#include "v86/jit.h"
#include "v86/jit_arena.h"

#include <errno.h>
#include <string.h>

struct board {
    uint32_t value;
    double now_ms;
};

static uint32_t
board_read(void *self, uint32_t address, unsigned bytes)
{
    (void)self;
    (void)address;
    (void)bytes;
    return UINT32_MAX;
}

static void
board_write(void *self, uint32_t address, uint32_t value, unsigned bytes)
{
    struct board *b = self;

    (void)address;
    (void)bytes;
    b->value = value;
}

/* Time passes with each call, so a run soon ends. */
static double
board_now_ms(void *self)
{
    struct board *b = self;

    return b->now_ms += 0.2;
}

static double
board_run_timers(void *self, double now_ms)
{
    (void)self;
    (void)now_ms;
    return 100;
}

static uint32_t
board_random(void *self)
{
    (void)self;
    return 4;
}

/* A sum over a table in memory, many times: it becomes hot. The code begins at
 * F000:0000 in 32-bit operand size. Ends with the sum at port 0x80. */
static const uint8_t program[] = {
    0x31, 0xc0,                         /* xor ax, ax */
    0x8e, 0xd8,                         /* mov ds, ax */
    0x66, 0x31, 0xdb,                   /* xor ebx, ebx */
    0x66, 0xb9, 0x80, 0x84, 0x1e, 0x00, /* mov ecx, 2000000 */
    0x66, 0x89, 0x0e, 0x00, 0x70,       /* again: mov [0x7000], ecx */
    0x66, 0x03, 0x1e, 0x00, 0x70,       /* add ebx, [0x7000] */
    0x66, 0xd1, 0xc3,                   /* rol ebx, 1 */
    0x66, 0x49,                         /* dec ecx */
    0x75, 0xef,                         /* jnz again */
    0x66, 0x89, 0xd8,                   /* mov eax, ebx */
    0x66, 0xe7, 0x80,                   /* out 0x80, eax */
    0xfa, 0xf4,                         /* cli; hlt */
};

static uint32_t
program_result(void)
{
    uint32_t sum = 0;

    for (uint32_t n = 2000000; n; n--) {
        sum += n;
        sum = sum << 1 | sum >> 31;
    }
    return sum;
}

/* Two loops in pages of their own, one after the other, 12 times. */
static const uint8_t first_page[] = {
    0x66, 0x31, 0xdb,                   /* xor ebx, ebx */
    0x66, 0xbe, 0x0c, 0x00, 0x00, 0x00, /* mov esi, 12 */
    0x66, 0xb9, 0xa0, 0x86, 0x01, 0x00, /* begin: mov ecx, 100000 */
    0x66, 0x01, 0xcb,                   /* again: add ebx, ecx */
    0x66, 0x49,                         /* dec ecx */
    0x75, 0xf9,                         /* jnz again */
    0xbd, 0x00, 0x20,                   /* mov bp, 0x2000 */
    0xff, 0xe5,                         /* jmp bp */
};
static const uint8_t second_page[] = {
    0x66, 0xb9, 0xa0, 0x86, 0x01, 0x00, /* mov ecx, 100000 */
    0x66, 0x31, 0xcb,                   /* again: xor ebx, ecx */
    0x66, 0xd1, 0xc3,                   /* rol ebx, 1 */
    0x66, 0x49,                         /* dec ecx */
    0x75, 0xf6,                         /* jnz again */
    0x66, 0x4e,                         /* dec esi */
    0x74, 0x05,                         /* jz end */
    0xbd, 0x09, 0x00,                   /* mov bp, begin */
    0xff, 0xe5,                         /* jmp bp */
    0x66, 0x89, 0xd8,                   /* end: mov eax, ebx */
    0x66, 0xe7, 0x80,                   /* out 0x80, eax */
    0xfa, 0xf4,                         /* cli; hlt */
};

static uint32_t
pages_result(void)
{
    uint32_t sum = 0;

    for (int i = 0; i < 12; i++) {
        for (uint32_t n = 100000; n; n--)
            sum += n;
        for (uint32_t n = 100000; n; n--) {
            sum ^= n;
            sum = sum << 1 | sum >> 31;
        }
    }
    return sum;
}

static struct core *
board_boot(struct board *b)
{
    static const uint8_t jump[] = {0xea, 0, 0, 0, 0xf0}; /* jmp F000:0000 */
    struct core_host host = {.self = b,
                             .port_read = board_read,
                             .port_write = board_write,
                             .mmio_read = board_read,
                             .mmio_write = board_write,
                             .now_ms = board_now_ms,
                             .run_timers = board_run_timers,
                             .random = board_random};
    struct core *core = NULL;

    CHECK_EQ(core_new(8 << 20, &host, &core), 0);
    memcpy(core_ram(core) + 0xf0000, program, sizeof program);
    memcpy(core_ram(core) + 0xffff0, jump, sizeof jump);
    return core;
}

static void
board_run(struct core *core)
{
    double idle_ms;

    for (int i = 0; i < 10000 && !core_is_halted(core); i++)
        if (core_run(core, &idle_ms) < 0)
            return;
}

TEST(hot_code_gives_the_same_result_with_and_without_the_compiler)
{
    for (int with = 0; with < 2; with++) {
        struct board b = {0};
        struct jit *jit = NULL;
        struct core *core = board_boot(&b);
        if (with)
            CHECK_EQ(jit_new(core, &jit), 0);
        board_run(core);
        CHECK(core_is_halted(core));
        CHECK_EQ(b.value, program_result());
        if (jit) {
            struct jit_figures figures = jit_figures(jit);
            CHECK(figures.functions > 0 && figures.code_bytes > 0);
            CHECK(jit_refusal(jit) == NULL);
        }
        core_free(core);
        jit_free(jit);
    }
}

TEST(dropped_code_is_compiled_again)
{
    struct board b = {0};
    struct jit *jit = NULL;
    struct core *core = board_boot(&b);
    double idle_ms;
    uint64_t drops = 0;

    CHECK_EQ(jit_new(core, &jit), 0);
    for (int i = 0; i < 10000 && !core_is_halted(core); i++) {
        CHECK_EQ(core_run(core, &idle_ms), 0);
        if (jit_figures(jit).functions > drops) {
            core_drop_code(core);
            drops++;
        }
    }
    CHECK_EQ(b.value, program_result());
    CHECK(drops > 1);
    core_free(core);
    jit_free(jit);
}

/* Runs both pages with space for this much code. */
static struct jit_figures
run_pages(size_t code_bytes)
{
    struct board b = {0};
    struct jit *jit = NULL;
    struct core *core = board_boot(&b);

    memcpy(core_ram(core) + 0xf0000, first_page, sizeof first_page);
    memcpy(core_ram(core) + 0xf2000, second_page, sizeof second_page);
    CHECK_EQ(jit_new_sized(core, code_bytes, &jit), 0);
    board_run(core);
    CHECK(core_is_halted(core));
    CHECK_EQ(b.value, pages_result());
    struct jit_figures figures = jit_figures(jit);
    core_free(core);
    jit_free(jit);
    return figures;
}

TEST(a_full_arena_drops_all_code_and_the_program_goes_on)
{
    struct jit_figures all = run_pages(JIT_ARENA_BYTES);

    CHECK(all.functions >= 2);
    CHECK_EQ(all.evictions, 0);
    struct jit_figures one = run_pages(all.code_bytes - 64);
    CHECK(one.evictions > 0 && one.functions > 2);
    struct jit_figures none = run_pages(64);
    CHECK_EQ(none.evictions, 1);
}

TEST(a_compiler_needs_memory)
{
    struct board b = {0};
    struct core *core = board_boot(&b);

    EACH_OOM(oom) {
        struct jit *jit = NULL;
        int r = jit_new(core, &jit);
        CHECK_EQ(r, test_alloc_failed() ? -ENOMEM : 0);
        jit_free(jit);
    }
    core_free(core);
}

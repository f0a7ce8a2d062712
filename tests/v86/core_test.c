/* The core on small real-mode programs, which begin at F000:FFF0. */
#include "../unit/test.h"
#include "v86/core.h"

#include <errno.h>
#include <string.h>

struct board {
    uint32_t port, value, mmio_addr, mmio_value;
    double now_ms;
};

static uint32_t
board_port_read(void *self, uint32_t port, unsigned bytes)
{
    (void)self;
    return port * 2 + bytes;
}

static void
board_port_write(void *self, uint32_t port, uint32_t value, unsigned bytes)
{
    struct board *b = self;

    (void)bytes;
    b->port = port;
    b->value = value;
}

static uint32_t
board_mmio_read(void *self, uint32_t addr, unsigned bytes)
{
    (void)self;
    (void)addr;
    (void)bytes;
    return 0x5a;
}

static void
board_mmio_write(void *self, uint32_t addr, uint32_t value, unsigned bytes)
{
    struct board *b = self;

    (void)bytes;
    b->mmio_addr = addr;
    b->mmio_value = value;
}

/* Time passes with each look at the clock, so a run always ends. */
static double
board_now_ms(void *self)
{
    struct board *b = self;

    return b->now_ms += 0.01;
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

static struct core *
board_boot(struct board *b, const uint8_t *code, size_t len)
{
    struct core_host host = {
        .self = b,
        .port_read = board_port_read,
        .port_write = board_port_write,
        .mmio_read = board_mmio_read,
        .mmio_write = board_mmio_write,
        .now_ms = board_now_ms,
        .run_timers = board_run_timers,
        .random = board_random,
    };
    static const uint8_t jump[] = {0xea, 0, 0, 0, 0xf0}; /* jmp F000:0000 */
    struct core *core = NULL;

    CHECK_EQ(core_new(8 << 20, &host, &core), 0);
    memcpy(core_ram(core) + 0xf0000, code, len);
    memcpy(core_ram(core) + 0xffff0, jump, sizeof jump);
    return core;
}

/* Runs until the program halts the processor. */
static void
board_run(struct core *core)
{
    double idle_ms;

    for (int i = 0; i < 1000 && !core_is_halted(core); i++)
        if (core_run(core, &idle_ms) < 0)
            return;
}

TEST(ports_and_memory_of_devices_reach_the_host)
{
    static const uint8_t code[] = {
        0xba, 0x34, 0x12, /* mov dx, 0x1234 */
        0xec,             /* in al, dx */
        0x42,             /* inc dx */
        0xee,             /* out dx, al */
        0xb8, 0x00, 0xb8, /* mov ax, 0xb800 */
        0x8e, 0xd8,       /* mov ds, ax */
        0xa0, 0x00, 0x00, /* mov al, [0] */
        0xa2, 0x07, 0x00, /* mov [7], al */
        0xfa, 0xf4,       /* cli; hlt */
    };
    struct board b = {0};
    struct core *core = board_boot(&b, code, sizeof code);

    board_run(core);
    CHECK(core_is_halted(core));
    CHECK_EQ(b.port, 0x1235);
    CHECK_EQ(b.value, (0x1234 * 2 + 1) & 0xff);
    CHECK_EQ(b.mmio_addr, 0xb8007);
    CHECK_EQ(b.mmio_value, 0x5a);
    CHECK(core_instructions(core) >= 10);
    CHECK_EQ(core_ram_bytes(core), 8 << 20);
    core_free(core);
}

TEST(an_interrupt_line_wakes_the_processor)
{
    static const uint8_t code[] = {
        0x31, 0xc0, 0x8e, 0xd8,             /* xor ax, ax; mov ds, ax */
        0x8e, 0xd0, 0xbc, 0x00, 0x70,       /* mov ss, ax; mov sp, 0x7000 */
        0xc7, 0x06, 0x24, 0x00, 0x40, 0x00, /* vector 9 = F000:0040 */
        0xc7, 0x06, 0x26, 0x00, 0x00, 0xf0, /* (second half) */
        0xb0, 0x11, 0xe6, 0x20,             /* PIC: start */
        0xb0, 0x08, 0xe6, 0x21,             /* vectors from 8 */
        0xb0, 0x04, 0xe6, 0x21,             /* slave at line 2 */
        0xb0, 0x01, 0xe6, 0x21,             /* 8086 mode */
        0xb0, 0x00, 0xe6, 0x21,             /* all lines */
        0xfb, 0xf4, 0xeb, 0xfd,             /* sti; hlt; again */
    };
    static const uint8_t handler[] = {
        0xb0, 0x77, 0xba, 0x99, 0x00, 0xee, /* out 0x99, 0x77 */
        0xfa, 0xf4,                         /* cli; hlt */
    };
    struct board b = {0};
    struct core *core = board_boot(&b, code, sizeof code);
    double idle_ms = 0;

    memcpy(core_ram(core) + 0xf0040, handler, sizeof handler);
    for (int i = 0; i < 100 && idle_ms <= 0; i++)
        CHECK_EQ(core_run(core, &idle_ms), 0);
    CHECK(idle_ms > 0);
    core_raise_irq(core, 1);
    board_run(core);
    core_lower_irq(core, 1);
    CHECK_EQ(b.port, 0x99);
    CHECK_EQ(b.value, 0x77);
    core_free(core);
}

TEST(a_core_refuses_a_bad_size_and_a_second_core)
{
    struct board b = {0};
    struct core *core = board_boot(&b, (const uint8_t[]){0xf4}, 1);
    struct core *other = NULL;
    struct core_host host = {.self = &b};

    CHECK_EQ(core_new(4096, &host, &other), -EINVAL);
    CHECK_EQ(core_new(8 << 20, &host, &other), -EBUSY);
    CHECK(!other);
    core_free(core);
}

TEST(symbols_are_found_by_their_whole_name)
{
    const struct core_symbol *s = core_find_symbol("main_loop", 9);

    CHECK(s && s->result == 'd' && !s->params[0]);
    CHECK(!core_find_symbol("main_loop", 8));
    CHECK(!core_find_symbol("main_loop2", 10));
}

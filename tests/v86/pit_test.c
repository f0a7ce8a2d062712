#include "v86/pit.h"

#include "../unit/test.h"
#include "fake_bus.h"

static struct fake_bus f;

static struct pit *
plugged(void)
{
    static struct pit p;

    pit_init(&p, fake_bus_init(&f));
    return &p;
}

/* Loads a channel with low and high byte. */
static void
load(struct pit *p, unsigned channel, unsigned mode, uint16_t reload,
     double now_ms)
{
    pit_write(p, 3, (uint8_t)(channel << 6 | 0x30 | mode << 1), now_ms);
    pit_write(p, channel, (uint8_t)reload, now_ms);
    pit_write(p, channel, (uint8_t)(reload >> 8), now_ms);
}

TEST(pit_interrupts_once_for_each_period)
{
    struct pit *p = plugged();

    CHECK(pit_run(p, 0) >= 100);
    load(p, 0, 2, 11932, 0); /* 10 ms */
    CHECK(pit_run(p, 4) > 5.9);
    CHECK_EQ(f.n_raised[0], 0);
    CHECK(pit_run(p, 10.1) > 9);
    CHECK_EQ(f.n_raised[0], 1);
    CHECK(pit_run(p, 55) > 4); /* four periods at once */
    CHECK_EQ(f.n_raised[0], 2);
}

TEST(pit_interrupts_once_in_mode_0_and_again_when_loaded)
{
    struct pit *p = plugged();

    load(p, 0, 0, 1193, 0);
    CHECK(pit_run(p, 0.5) < 0.6);
    CHECK(pit_run(p, 1.1) >= 100);
    CHECK(pit_run(p, 9) >= 100);
    CHECK_EQ(f.n_raised[0], 1);
    load(p, 0, 0, 0, 9);
    CHECK(!f.is_high[0]);
    CHECK(pit_run(p, 10) > 50);
}

TEST(pit_counts_down_and_latches)
{
    struct pit *p = plugged();

    load(p, 0, 2, 1000, 0);
    unsigned low = pit_read(p, 0, 0.1), high = pit_read(p, 0, 0.1);
    CHECK_EQ(high << 8 | low, 1000 - 119);
    pit_write(p, 3, 0, 0.2);
    low = pit_read(p, 0, 0.5);
    high = pit_read(p, 0, 0.6);
    CHECK_EQ(high << 8 | low, 1000 - 238);
    CHECK_EQ(pit_read(p, 3, 0), 0xff);
}

TEST(pit_channel_2_is_visible_at_the_gate)
{
    struct pit *p = plugged();

    load(p, 2, 0, 1193, 0);
    pit_write_gate(p, 1, 5);
    CHECK(!(pit_read_gate(p, 5.5) & 0x20));
    uint8_t a = pit_read_gate(p, 6.1), b = pit_read_gate(p, 6.1);
    CHECK(a & 0x20);
    CHECK_EQ((a ^ b) & 0x10, 0x10);
    CHECK_EQ(a & 1, 1);
}

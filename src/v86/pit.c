/* Counters are computed from the time, and not counted. A guest that was not
 * running for several periods gets one interrupt for all of them, as if it had
 * had interrupts disabled. */
#include "v86/pit.h"

#include <math.h>

static const double PIT_TICKS_PER_MS = 1193.1816666;
static const double PIT_IDLE_MS = 100;

enum { PIT_COMMAND = 3, PIT_READ_BACK = 3 };
enum { ACCESS_LATCH, ACCESS_LOW, ACCESS_HIGH, ACCESS_BOTH };

/* Of port 0x61. */
enum { GATE_CHANNEL_2 = 1, GATE_REFRESH = 0x10, GATE_OUTPUT_2 = 0x20 };

void
pit_init(struct pit *p, const struct bus *bus)
{
    *p = (struct pit){.bus = bus};
}

/* Modes 2 and 3 start again at the end of each period. */
static bool
channel_is_periodic(const struct pit_channel *c)
{
    return c->mode == 2 || c->mode == 3;
}

static uint32_t
channel_period(const struct pit_channel *c)
{
    return c->reload ? c->reload : 0x10000;
}

static uint64_t
channel_ticks(const struct pit_channel *c, double now_ms)
{
    double ms = now_ms - c->start_ms;

    return ms > 0 ? (uint64_t)(ms * PIT_TICKS_PER_MS) : 0;
}

static uint16_t
channel_count(const struct pit_channel *c, double now_ms)
{
    uint64_t ticks = channel_ticks(c, now_ms);
    uint32_t period = channel_period(c);

    if (channel_is_periodic(c))
        ticks %= period;
    return (uint16_t)(period - ticks);
}

static bool
channel_output(const struct pit_channel *c, double now_ms)
{
    if (!c->is_running || channel_is_periodic(c))
        return c->is_running;
    return channel_ticks(c, now_ms) >= channel_period(c);
}

static void
pit_pulse(struct pit *p)
{
    p->bus->set_irq(p->bus->self, 0, false);
    p->bus->set_irq(p->bus->self, 0, true);
}

static void
pit_command(struct pit *p, uint8_t value, double now_ms)
{
    unsigned n = value >> 6;

    if (n == PIT_READ_BACK)
        return;

    struct pit_channel *c = &p->channel[n];
    uint8_t access = value >> 4 & 3, mode = value >> 1 & 7;
    if (access == ACCESS_LATCH) {
        c->latch = channel_count(c, now_ms);
        c->n_latched = c->access == ACCESS_BOTH ? 2 : 1;
        return;
    }
    *c = (struct pit_channel){.access = access,
                              .mode = mode > 5 ? mode - 4 : mode};
    if (n == 0)
        p->bus->set_irq(p->bus->self, 0, false);
}

static void
pit_load(struct pit *p, unsigned n, uint16_t reload, double now_ms)
{
    struct pit_channel *c = &p->channel[n];

    c->reload = reload;
    c->start_ms = now_ms;
    c->is_running = true;
    c->has_fired = false;
    if (n == 0)
        p->bus->set_irq(p->bus->self, 0, false);
}

void
pit_write(struct pit *p, unsigned reg, uint8_t value, double now_ms)
{
    if (reg == PIT_COMMAND) {
        pit_command(p, value, now_ms);
        return;
    }

    struct pit_channel *c = &p->channel[reg];
    if (c->access == ACCESS_LOW)
        pit_load(p, reg, value, now_ms);
    else if (c->access == ACCESS_HIGH)
        pit_load(p, reg, (uint16_t)(value << 8), now_ms);
    else if (c->is_high_written)
        pit_load(p, reg, (uint16_t)(value << 8 | c->low), now_ms);
    else
        c->low = value;
    if (c->access == ACCESS_BOTH)
        c->is_high_written = !c->is_high_written;
}

static uint8_t
channel_take_latch(struct pit_channel *c)
{
    bool is_high = c->access == ACCESS_HIGH ||
                   (c->access == ACCESS_BOTH && c->n_latched == 1);

    c->n_latched--;
    return (uint8_t)(is_high ? c->latch >> 8 : c->latch);
}

uint8_t
pit_read(struct pit *p, unsigned reg, double now_ms)
{
    if (reg == PIT_COMMAND)
        return 0xff;

    struct pit_channel *c = &p->channel[reg];
    if (c->n_latched)
        return channel_take_latch(c);

    uint16_t count = channel_count(c, now_ms);
    bool is_high = c->access == ACCESS_HIGH ||
                   (c->access == ACCESS_BOTH && c->is_high_read);
    if (c->access == ACCESS_BOTH)
        c->is_high_read = !c->is_high_read;
    return (uint8_t)(is_high ? count >> 8 : count);
}

/* Kernels wait for the refresh bit to change, so it changes with each read. */
uint8_t
pit_read_gate(struct pit *p, double now_ms)
{
    p->gate ^= GATE_REFRESH;
    return (
        uint8_t)(p->gate |
                 (channel_output(&p->channel[2], now_ms) ? GATE_OUTPUT_2 : 0));
}

void
pit_write_gate(struct pit *p, uint8_t value, double now_ms)
{
    if ((value & GATE_CHANNEL_2) && !(p->gate & GATE_CHANNEL_2))
        p->channel[2].start_ms = now_ms;
    p->gate = (uint8_t)((p->gate & GATE_REFRESH) | (value & 0x0f));
}

double
pit_run(struct pit *p, double now_ms)
{
    struct pit_channel *c = &p->channel[0];
    double period_ms = channel_period(c) / PIT_TICKS_PER_MS;

    if (!c->is_running || (c->has_fired && !channel_is_periodic(c)))
        return PIT_IDLE_MS;
    if (now_ms - c->start_ms >= period_ms) {
        pit_pulse(p);
        c->has_fired = true;
        if (!channel_is_periodic(c))
            return PIT_IDLE_MS;
        c->start_ms += floor((now_ms - c->start_ms) / period_ms) * period_ms;
    }
    return c->start_ms + period_ms - now_ms;
}

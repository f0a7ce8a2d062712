/* A bus for tests of devices: RAM, and the levels of the interrupt lines. */
#ifndef V86_FAKE_BUS_H
#define V86_FAKE_BUS_H

#include "v86/bus.h"

enum { FAKE_RAM_BYTES = 256 << 10 };

struct fake_bus {
    struct bus bus;
    bool is_high[16];
    unsigned n_raised[16];
    bool is_dirty[FAKE_RAM_BYTES / 4096]; /* pages */
    uint8_t ram[FAKE_RAM_BYTES];
};

static inline void
fake_bus_set_irq(void *self, unsigned line, bool is_high)
{
    struct fake_bus *f = self;

    f->n_raised[line] += is_high && !f->is_high[line];
    f->is_high[line] = is_high;
}

static inline void
fake_bus_dirtied(void *self, uint32_t start, uint32_t end)
{
    struct fake_bus *f = self;

    for (uint32_t at = start; at < end; at++)
        f->is_dirty[at / 4096] = true;
}

static inline const struct bus *
fake_bus_init(struct fake_bus *f)
{
    memset(f, 0, sizeof *f);
    f->bus = (struct bus){.self = f,
                          .set_irq = fake_bus_set_irq,
                          .dirtied = fake_bus_dirtied,
                          .ram = f->ram,
                          .ram_bytes = sizeof f->ram};
    return &f->bus;
}

#endif

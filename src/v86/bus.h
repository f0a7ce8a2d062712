/* The part of the computer that its devices use: interrupt lines and RAM. A
 * unit test of a device has a bus of its own. */
#ifndef V86_BUS_H
#define V86_BUS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct bus {
    void *self;
    void (*set_irq)(void *self, unsigned line, bool is_high);
    /* A device has changed bytes of the RAM; `end` is exclusive. */
    void (*dirtied)(void *self, uint32_t start, uint32_t end);
    uint8_t *ram;
    uint32_t ram_bytes;
};

/* Returns the bytes of the RAM at a physical address of the guest, or NULL if
 * not all of them exist. Values are copied once and then checked. */
static inline uint8_t *
bus_ram(const struct bus *bus, uint64_t addr, uint32_t len)
{
    if (addr > bus->ram_bytes || len > bus->ram_bytes - addr)
        return NULL;
    return bus->ram + addr;
}

/* An interrupt line with the level that was reported last. */
struct irq {
    const struct bus *bus;
    unsigned line;
    bool is_high;
};

static inline void
irq_set(struct irq *irq, bool is_high)
{
    if (irq->is_high == is_high)
        return;
    irq->is_high = is_high;
    irq->bus->set_irq(irq->bus->self, irq->line, is_high);
}

/* The value that a port without a device has. */
static inline uint32_t
bus_absent(unsigned bytes)
{
    return UINT32_MAX >> (32 - 8 * bytes);
}

#endif

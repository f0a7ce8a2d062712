/* The 8254 interval timer and port 0x61: channel 0 is the clock of the system
 * on interrupt line 0, channel 2 the one that kernels measure the processor
 * with. Times are milliseconds of the core's clock. */
#ifndef V86_PIT_H
#define V86_PIT_H

#include "v86/bus.h"

enum { PIT_CHANNELS = 3 };

struct pit_channel {
    uint16_t reload, latch;
    uint8_t mode, access, low;
    /* The next byte written or read is the high one. */
    bool is_high_written, is_high_read;
    uint8_t n_latched; /* bytes of the latch that were not read yet */
    bool is_running, has_fired;
    double start_ms;
};

struct pit {
    const struct bus *bus;
    struct pit_channel channel[PIT_CHANNELS];
    uint8_t gate; /* port 0x61 */
};

void pit_init(struct pit *p, const struct bus *bus);
/* Ports 0x40 to 0x43 are the registers 0 to 3. */
uint8_t pit_read(struct pit *p, unsigned reg, double now_ms);
void pit_write(struct pit *p, unsigned reg, uint8_t value, double now_ms);
/* Port 0x61. */
uint8_t pit_read_gate(struct pit *p, double now_ms);
void pit_write_gate(struct pit *p, uint8_t value, double now_ms);
/* Raises the interrupt of channel 0 if it is due. Returns the milliseconds
 * until the next one, at most 100. */
double pit_run(struct pit *p, double now_ms);

#endif

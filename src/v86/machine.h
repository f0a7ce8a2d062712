/* The computer: the core with its devices, behind ports and addresses.
 *
 * A machine belongs to one process. fork() copies it: guest memory, devices,
 * compiled code and the overlay of the disk are copy-on-write. */
#ifndef V86_MACHINE_H
#define V86_MACHINE_H

#include "v86/bus.h"
#include "v86/disk.h"

struct machine;
struct core;

struct machine_options {
    uint32_t ram_bytes; /* a multiple of 1 MiB */
    struct disk *disk;  /* borrowed */
    void *self;
    /* Gets each byte that the guest writes to its first serial port. */
    void (*serial)(void *self, uint8_t byte);
    /* Gets bytes of the agent (virtio_console.h). */
    uint32_t (*agent)(void *self, const uint8_t *p, uint32_t len);
};

/* Returns 0, or the errors of core_new. */
int machine_new(const struct machine_options *o, OWN struct machine **ret);
void machine_free(struct machine *m);

/* Runs for about a millisecond. Returns 0, with the milliseconds that the guest
 * has nothing to do; -EIO if the core has failed; -ESHUTDOWN if the guest has
 * switched the computer off. */
int machine_run(struct machine *m, double *ret_idle_ms);
/* Returns the message of a failed core. */
const char *machine_error(const struct machine *m);

/* The guest's clock stands still between these two. */
void machine_stop_clock(struct machine *m);
void machine_start_clock(struct machine *m);

/* Pass bytes to the guest, and return the number that it accepts. */
size_t machine_serial_input(struct machine *m, const uint8_t *p, size_t len);
size_t machine_agent_input(struct machine *m, const uint8_t *p, size_t len);
/* Passes output of the agent that `agent` has not accepted before. */
void machine_agent_resume(struct machine *m);

/* For the loader of the kernel, and for a compiler. */
const struct bus *machine_bus(struct machine *m);
struct core *machine_core(struct machine *m);

#endif

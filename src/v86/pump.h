/* The process of a machine: runs it, and moves bytes between the agent inside
 * and a socket. */
#ifndef V86_PUMP_H
#define V86_PUMP_H

#include "v86/machine.h"

enum { PUMP_BYTES = 128 << 10, PUMP_CONSOLE_BYTES = 1024 };

struct pump {
    struct machine *machine;
    struct jit *jit; /* NULL: everything is interpreted */
    struct disk *disk;
    /* Bytes on their way out of the guest and into it. */
    uint8_t out[PUMP_BYTES], in[PUMP_BYTES];
    size_t out_len, in_len;
    int hfd; /* the socket that is served; -1: none */
    /* The end of the console's output, for messages about failures. */
    char console[PUMP_CONSOLE_BYTES];
    size_t console_len;
    bool has_reported; /* that the compiler has refused code */
};

enum { PUMP_ERROR_BYTES = 512 + PUMP_CONSOLE_BYTES };

struct pump_options {
    uint32_t ram_bytes;
    int64_t boot_timeout_ms;
    bool has_jit; /* compile hot code, if this processor can run it */
};

/* Makes a machine with the disk, which the pump owns from now on, and boots it
 * until the agent is ready. The clock is stopped then. Returns 0, or -errno
 * with a text. */
int pump_boot(struct pump *p, OWN struct disk *disk,
              const struct pump_options *o, char error[PUMP_ERROR_BYTES]);
/* In a forked process: leaves the socket to the parent, and stops the clock. */
void pump_detach(struct pump *p);
/* Starts the clock and serves the socket until it is closed; then ends the
 * process. Whenever `control` is readable and no byte is on its way,
 * on_control is called. */
void pump_serve(struct pump *p, int hfd, int control,
                void (*on_control)(struct pump *p, int control))
    __attribute__((noreturn));

#endif

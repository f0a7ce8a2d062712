/* A virtio console device with one port, /dev/vport0p1 in the guest: the fast
 * channel between the host and the agent inside. */
#ifndef V86_VIRTIO_CONSOLE_H
#define V86_VIRTIO_CONSOLE_H

#include "v86/virtio.h"

enum { CONSOLE_EVENTS = 8 };

struct console_event {
    uint32_t port;
    uint16_t event, value;
};

struct virtio_console {
    struct virtio virtio;
    void *self;
    /* Gets bytes that the guest has written, and returns how many of them it
     * accepts. The rest stays in the guest until virtio_console_resume. */
    uint32_t (*output)(void *self, const uint8_t *p, uint32_t len);
    bool is_open; /* a program in the guest has opened the port */
    /* The buffer that `output` has accepted in part. */
    bool has_partial;
    uint32_t partial_done;
    struct virtio_buffer partial;
    /* Events that wait for a buffer of the guest. */
    unsigned n_events;
    struct console_event event[CONSOLE_EVENTS];
};

void virtio_console_init(
    struct virtio_console *c, const struct bus *bus, struct pci *pci,
    uint32_t (*output)(void *self, const uint8_t *p, uint32_t len), void *self);
/* Passes bytes to the guest. Returns the number that fits into its buffers. */
uint32_t virtio_console_input(struct virtio_console *c, const uint8_t *p,
                              uint32_t len);
/* Passes output that has waited. */
void virtio_console_resume(struct virtio_console *c);

#endif

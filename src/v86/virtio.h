/* A virtio device on the PCI bus, in the legacy form: registers, queues and the
 * interrupt. Devices add their features, their configuration and the handling
 * of their queues.
 *
 * A queue lies in the guest's RAM and may contain anything. Each descriptor is
 * copied, and its bytes are checked to be in the RAM, before it is used. */
#ifndef V86_VIRTIO_H
#define V86_VIRTIO_H

#include "v86/bus.h"
#include "v86/pci.h"

#include <stddef.h>

enum { VIRTIO_QUEUES = 8, VIRTIO_QUEUE_SIZE = 128 };

/* Registers: 20 of the transport, then the configuration of the device. */
enum { VIRTIO_PORTS = 128, VIRTIO_CONFIG = 20 };

struct virtio;

struct virtio_ops {
    /* The guest has added buffers to a queue. */
    void (*notify)(struct virtio *v, unsigned queue);
    /* The guest has reset the device. NULL: nothing to do. */
    void (*reset)(struct virtio *v);
};

struct virtio_queue {
    uint32_t page;       /* of the guest's RAM; 0: the queue is not in use */
    uint16_t next_avail; /* the first buffer that the device has not handled */
};

struct virtio {
    const struct virtio_ops *ops;
    const struct bus *bus;
    struct pci_device *pci;
    struct irq irq;
    uint32_t features, guest_features;
    unsigned n_queues;
    uint16_t selected;
    uint8_t status, isr;
    struct virtio_queue queue[VIRTIO_QUEUES];
    uint8_t config[VIRTIO_PORTS - VIRTIO_CONFIG];
};

/* One buffer of a queue: pieces of RAM that the device reads, then pieces that
 * it writes. */
struct virtio_piece {
    uint8_t *p;
    uint32_t addr, len;
};

struct virtio_buffer {
    uint16_t head;
    unsigned n_read, n_write;
    uint32_t bytes; /* of all pieces */
    struct virtio_piece piece[VIRTIO_QUEUE_SIZE];
};

/* `pci` belongs to the device from now on; features and config may be filled
 * afterwards. */
void virtio_init(struct virtio *v, const struct virtio_ops *ops,
                 const struct bus *bus, struct pci_device *pci,
                 unsigned n_queues);

/* Takes the next buffer of a queue. Returns false if there is none. A malformed
 * buffer is returned to the guest with length 0, and skipped. */
bool virtio_take(struct virtio *v, unsigned queue,
                 struct virtio_buffer *ret_buffer);
/* True if virtio_take would find one. */
bool virtio_has(const struct virtio *v, unsigned queue);
/* Returns a buffer to the guest; `written` is the number of bytes that the
 * device has written into it. */
void virtio_give(struct virtio *v, unsigned queue, uint16_t head,
                 uint32_t written);
/* Copies bytes into the write pieces from the offset `at`, as far as they fit.
 * Returns the number of bytes copied. */
uint32_t virtio_fill(struct virtio *v, const struct virtio_buffer *b,
                     uint32_t at, const void *p, uint32_t len);

#endif

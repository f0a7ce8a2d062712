/* The disk as a virtio block device. */
#ifndef V86_VIRTIO_BLK_H
#define V86_VIRTIO_BLK_H

#include "v86/disk.h"
#include "v86/virtio.h"

struct virtio_blk {
    struct virtio virtio;
    struct disk *disk; /* borrowed */
};

/* Adds the device to the bus. */
void virtio_blk_init(struct virtio_blk *b, const struct bus *bus,
                     struct pci *pci, struct disk *disk);

#endif

/* Requests are served when the guest announces them, before it continues, so
 * there is never more than one in progress. */
#include "v86/virtio_blk.h"

#include "base/list.h"

#include <errno.h>

enum { BLK_PORTS = 0xc000, BLK_LINE = 11, BLK_QUEUES = 1 };

enum {
    BLK_F_SEG_MAX = 1 << 2,
    BLK_F_FLUSH = 1 << 9,
    BLK_F_DISCARD = 1 << 13,
    BLK_IN = 0,
    BLK_OUT = 1,
    BLK_FLUSH = 4,
    BLK_GET_ID = 8,
    BLK_DISCARD = 11,
    BLK_OK = 0,
    BLK_IOERR = 1,
    BLK_UNSUPPORTED = 2,
    BLK_ID_BYTES = 20,
};

/* All pieces of a request but its header and its status. */
enum { BLK_SEGMENTS = VIRTIO_QUEUE_SIZE - 2 };

/* Discards have one range each, of any length. */
enum { BLK_RANGES = 1, BLK_SECTORS_PER_BLOCK = 8 };

struct blk_header {
    uint32_t type, reserved;
    uint64_t sector;
};

/* Copies the data of a request. Returns 0 or -errno, with the bytes written
 * into the RAM. */
static int
blk_transfer(struct virtio_blk *b, const struct virtio_buffer *buf,
             const struct blk_header *h, uint32_t *ret_written)
{
    bool is_in = h->type == BLK_IN;
    unsigned first = is_in ? buf->n_read : 1;
    unsigned end = is_in ? buf->n_read + buf->n_write - 1 : buf->n_read;
    uint64_t at = h->sector * DISK_SECTOR_BYTES;

    if (h->sector >= disk_sectors(b->disk))
        return -ERANGE;
    for (unsigned i = first; i < end; i++) {
        const struct virtio_piece *s = &buf->piece[i];
        int r = is_in ? disk_read(b->disk, at, s->p, s->len)
                      : disk_write(b->disk, at, s->p, s->len);

        if (r < 0)
            return r;
        if (is_in) {
            const struct bus *bus = b->virtio.bus;
            bus->dirtied(bus->self, s->addr, s->addr + s->len);
            *ret_written += s->len;
        }
        at += s->len;
    }
    return 0;
}

/* The guest does not need the sectors of a range any more. */
static uint8_t
blk_discard(struct virtio_blk *b, const struct virtio_buffer *buf)
{
    struct {
        uint64_t sector;
        uint32_t sectors, flags;
    } range;

    if (buf->n_read != 2 || buf->piece[1].len != sizeof range)
        return BLK_IOERR;
    memcpy(&range, buf->piece[1].p, sizeof range);
    if (range.sector >= disk_sectors(b->disk))
        return BLK_IOERR;
    return disk_discard(b->disk, range.sector * DISK_SECTOR_BYTES,
                        (uint64_t)range.sectors * DISK_SECTOR_BYTES) < 0
               ? BLK_IOERR
               : BLK_OK;
}

static uint8_t
blk_execute(struct virtio_blk *b, const struct virtio_buffer *buf,
            const struct blk_header *h, uint32_t *ret_written)
{
    static const char id[BLK_ID_BYTES] = "wasmsand";

    switch (h->type) {
    case BLK_IN:
    case BLK_OUT:
        return blk_transfer(b, buf, h, ret_written) < 0 ? BLK_IOERR : BLK_OK;
    case BLK_DISCARD:
        return blk_discard(b, buf);
    case BLK_FLUSH:
        return BLK_OK;
    case BLK_GET_ID:
        *ret_written = virtio_fill(&b->virtio, buf, 0, id, sizeof id);
        return BLK_OK;
    default:
        return BLK_UNSUPPORTED;
    }
}

/* A request is a header, the data, and one byte for the status. Returns the
 * bytes written. */
static uint32_t
blk_serve(struct virtio_blk *b, const struct virtio_buffer *buf)
{
    struct blk_header h;
    uint32_t written = 0;

    if (!buf->n_read || !buf->n_write || buf->piece[0].len < sizeof h)
        return 0;
    memcpy(&h, buf->piece[0].p, sizeof h);

    const struct virtio_piece *last =
        &buf->piece[buf->n_read + buf->n_write - 1];
    if (last->len < 1)
        return 0;
    *last->p = blk_execute(b, buf, &h, &written);
    b->virtio.bus->dirtied(b->virtio.bus->self, last->addr, last->addr + 1);
    return written + 1;
}

static void
blk_notify(struct virtio *v, unsigned queue)
{
    struct virtio_blk *b = CONTAINER_OF(v, struct virtio_blk, virtio);
    struct virtio_buffer buf;

    while (virtio_take(v, queue, &buf))
        virtio_give(v, queue, buf.head, blk_serve(b, &buf));
}

void
virtio_blk_init(struct virtio_blk *b, const struct bus *bus, struct pci *pci,
                struct disk *disk)
{
    static const struct virtio_ops ops = {.notify = blk_notify};
    static const struct pci_ident ident = {
        .vendor = 0x1af4,
        .device = 0x1001,
        .subsystem_vendor = 0x1af4,
        .subsystem = 2,
        .class_revision = 0x01000000,
    };
    struct {
        uint64_t sectors;
        uint32_t size_max, segments_max;
        uint8_t unused[20]; /* of features that this device does not have */
        uint32_t discard_sectors_max, discard_ranges_max, discard_alignment;
    } config = {.sectors = disk_sectors(disk),
                .segments_max = BLK_SEGMENTS,
                .discard_sectors_max = INT32_MAX,
                .discard_ranges_max = BLK_RANGES,
                .discard_alignment = BLK_SECTORS_PER_BLOCK};

    b->disk = disk;
    virtio_init(&b->virtio, &ops, bus,
                pci_add(pci, &ident, BLK_PORTS, VIRTIO_PORTS, BLK_LINE),
                BLK_QUEUES);
    b->virtio.features = BLK_F_SEG_MAX | BLK_F_FLUSH | BLK_F_DISCARD;
    memcpy(b->virtio.config, &config, sizeof config);
}

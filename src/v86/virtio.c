/* Queues of the legacy virtio transport, as a device sees them.
 *
 * The guest writes descriptors and rings, and may change them at any time. Each
 * descriptor is therefore copied once, and the copy is checked: its bytes must
 * be in RAM, readable pieces come before writable ones, and a buffer has at
 * most BUFFER_BYTES_MAX. Indices are reduced modulo the size of the queue, so
 * no value of the guest leads out of it. */
#include "v86/virtio.h"

/* Registers of the transport. */
enum {
    VIRTIO_FEATURES = 0,
    VIRTIO_GUEST_FEATURES = 4,
    VIRTIO_QUEUE_PAGE = 8,
    VIRTIO_QUEUE_LEN = 12,
    VIRTIO_QUEUE_SELECT = 14,
    VIRTIO_NOTIFY = 16,
    VIRTIO_STATUS = 18,
    VIRTIO_ISR = 19,
};

/* A queue: descriptors, the ring of the guest, and on the next page boundary
 * the ring of the device. */
enum {
    PAGE_BYTES = 4096,
    DESC_BYTES = 16,
    DESC_NEXT = 1,
    DESC_WRITE = 2,
    AVAIL_NO_INTERRUPT = 1,
    RING_HEAD = 4,
    AVAIL = VIRTIO_QUEUE_SIZE * DESC_BYTES,
    AVAIL_END = AVAIL + RING_HEAD + VIRTIO_QUEUE_SIZE * 2 + 2,
    USED = (AVAIL_END + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES,
    USED_ENTRY = 8,
    QUEUE_BYTES = USED + RING_HEAD + VIRTIO_QUEUE_SIZE * USED_ENTRY + 2,
};

/* A buffer is handled before the guest continues. Drivers use at most a third
 * of this size. */
enum { BUFFER_BYTES_MAX = 4 << 20 };

static uint16_t
get16(const uint8_t *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

/* Returns the bytes of a queue, or NULL if it is not in use or not in RAM. */
static uint8_t *
virtio_ring(const struct virtio *v, unsigned queue)
{
    uint64_t addr = (uint64_t)v->queue[queue].page * PAGE_BYTES;

    return addr ? bus_ram(v->bus, addr, QUEUE_BYTES) : NULL;
}

static void
virtio_interrupt(struct virtio *v)
{
    v->isr |= 1;
    v->irq.line = pci_line(v->pci);
    irq_set(&v->irq, true);
}

/* A guest that announces more buffers than a queue can have gets none of them
 * handled. */
bool
virtio_has(const struct virtio *v, unsigned queue)
{
    const uint8_t *ring = virtio_ring(v, queue);

    if (!ring)
        return false;

    uint16_t n =
        (uint16_t)(get16(ring + AVAIL + 2) - v->queue[queue].next_avail);
    return n && n <= VIRTIO_QUEUE_SIZE;
}

void
virtio_give(struct virtio *v, unsigned queue, uint16_t head, uint32_t written)
{
    uint8_t *ring = virtio_ring(v, queue);

    if (!ring)
        return;

    uint16_t next = get16(ring + USED + 2);
    uint32_t entry[2] = {head, written};
    unsigned at =
        USED + RING_HEAD + next % VIRTIO_QUEUE_SIZE * (unsigned)USED_ENTRY;
    memcpy(ring + at, entry, sizeof entry);
    next++;
    memcpy(ring + USED + 2, &next, sizeof next);

    uint32_t used = v->queue[queue].page * PAGE_BYTES + USED;
    v->bus->dirtied(v->bus->self, used, used + QUEUE_BYTES - USED);
    if (!(get16(ring + AVAIL) & AVAIL_NO_INTERRUPT))
        virtio_interrupt(v);
}

/* Adds the piece of one descriptor. Returns the number of the next one, or -1
 * at the end, or -2 if the buffer is malformed. */
static int
virtio_add_piece(const struct virtio *v, const uint8_t *ring, unsigned n,
                 struct virtio_buffer *b)
{
    struct {
        uint64_t addr;
        uint32_t len;
        uint16_t flags, next;
    } desc;
    unsigned count = b->n_read + b->n_write;

    memcpy(&desc, ring + (size_t)n * DESC_BYTES, sizeof desc);
    uint8_t *p = bus_ram(v->bus, desc.addr, desc.len);
    bool is_write = desc.flags & DESC_WRITE;
    if (!p || count == VIRTIO_QUEUE_SIZE || (!is_write && b->n_write) ||
        desc.len > BUFFER_BYTES_MAX - b->bytes)
        return -2;
    b->bytes += desc.len;
    b->piece[count] = (struct virtio_piece){p, (uint32_t)desc.addr, desc.len};
    if (is_write)
        b->n_write++;
    else
        b->n_read++;
    return desc.flags & DESC_NEXT ? desc.next % VIRTIO_QUEUE_SIZE : -1;
}

/* A chain that leads back to itself ends when it has too many pieces. */
static bool
virtio_collect(const struct virtio *v, const uint8_t *ring,
               struct virtio_buffer *b)
{
    int n = b->head;

    while (n >= 0)
        n = virtio_add_piece(v, ring, (unsigned)n, b);
    return n == -1;
}

bool
virtio_take(struct virtio *v, unsigned queue, struct virtio_buffer *ret_buffer)
{
    while (virtio_has(v, queue)) {
        const uint8_t *ring = virtio_ring(v, queue);
        unsigned at = v->queue[queue].next_avail++ % VIRTIO_QUEUE_SIZE;

        ret_buffer->head = get16(ring + AVAIL + RING_HEAD + (size_t)2 * at) %
                           VIRTIO_QUEUE_SIZE;
        ret_buffer->n_read = ret_buffer->n_write = ret_buffer->bytes = 0;
        if (virtio_collect(v, ring, ret_buffer))
            return true;
        virtio_give(v, queue, ret_buffer->head, 0);
    }
    return false;
}

uint32_t
virtio_fill(struct virtio *v, const struct virtio_buffer *b, uint32_t at,
            const void *p, uint32_t len)
{
    const uint8_t *from = p;
    uint32_t done = 0;

    for (unsigned i = 0; i < b->n_write && done < len; i++) {
        const struct virtio_piece *w = &b->piece[b->n_read + i];
        uint32_t skip = at < w->len ? at : w->len, n = w->len - skip;

        at -= skip;
        if (n > len - done)
            n = len - done;
        memcpy(w->p + skip, from + done, n);
        v->bus->dirtied(v->bus->self, w->addr + skip, w->addr + skip + n);
        done += n;
    }
    return done;
}

static void
virtio_reset(struct virtio *v)
{
    memset(v->queue, 0, sizeof v->queue);
    v->status = v->isr = 0;
    v->guest_features = 0;
    v->selected = 0;
    irq_set(&v->irq, false);
    if (v->ops->reset)
        v->ops->reset(v);
}

/* Reading the cause of an interrupt acknowledges it. */
static uint32_t
virtio_take_isr(struct virtio *v)
{
    uint8_t isr = v->isr;

    v->isr = 0;
    irq_set(&v->irq, false);
    return isr;
}

static uint32_t
virtio_read_config(const struct virtio *v, unsigned at, unsigned bytes)
{
    uint32_t value = 0;

    if (at + bytes <= sizeof v->config)
        memcpy(&value, v->config + at, bytes);
    return value;
}

static uint32_t
virtio_read(void *self, unsigned reg, unsigned bytes)
{
    struct virtio *v = self;
    bool has_queue = v->selected < v->n_queues;

    switch (reg) {
    case VIRTIO_FEATURES:
        return v->features;
    case VIRTIO_GUEST_FEATURES:
        return v->guest_features;
    case VIRTIO_QUEUE_PAGE:
        return has_queue ? v->queue[v->selected].page : 0;
    case VIRTIO_QUEUE_LEN:
        return has_queue ? VIRTIO_QUEUE_SIZE : 0;
    case VIRTIO_QUEUE_SELECT:
        return v->selected;
    case VIRTIO_STATUS:
        return v->status;
    case VIRTIO_ISR:
        return virtio_take_isr(v);
    default:
        return reg < VIRTIO_CONFIG
                   ? 0
                   : virtio_read_config(v, reg - VIRTIO_CONFIG, bytes);
    }
}

static void
virtio_set_page(struct virtio *v, uint32_t page)
{
    if (v->selected < v->n_queues)
        v->queue[v->selected] = (struct virtio_queue){.page = page};
}

static void
virtio_set_status(struct virtio *v, uint8_t status)
{
    if (status)
        v->status = status;
    else
        virtio_reset(v);
}

static void
virtio_write(void *self, unsigned reg, uint32_t value, unsigned bytes)
{
    struct virtio *v = self;

    (void)bytes;
    if (reg == VIRTIO_GUEST_FEATURES)
        v->guest_features = value & v->features;
    else if (reg == VIRTIO_QUEUE_PAGE)
        virtio_set_page(v, value);
    else if (reg == VIRTIO_QUEUE_SELECT)
        v->selected = (uint16_t)value;
    else if (reg == VIRTIO_NOTIFY && value < v->n_queues)
        v->ops->notify(v, value);
    else if (reg == VIRTIO_STATUS)
        virtio_set_status(v, (uint8_t)value);
}

void
virtio_init(struct virtio *v, const struct virtio_ops *ops,
            const struct bus *bus, struct pci_device *pci, unsigned n_queues)
{
    *v = (struct virtio){.ops = ops,
                         .bus = bus,
                         .pci = pci,
                         .irq = {.bus = bus, .line = pci_line(pci)},
                         .n_queues = n_queues};
    pci->self = v;
    pci->read = virtio_read;
    pci->write = virtio_write;
}

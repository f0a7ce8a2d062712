/* Queues and the two virtio devices, driven like a driver would do. */
#include "v86/virtio_blk.h"
#include "v86/virtio_console.h"

#include "../unit/test.h"
#include "fake_bus.h"

#include <sys/mman.h>
#include <unistd.h>

/* Queue n is at this address; descriptors, the guest's ring, our ring. */
enum { QUEUE_BYTES = 0x3000, AVAIL = 0x800, USED = 0x1000, BUFFERS = 0x20000 };
enum { NEXT = 1, WRITE = 2 };

struct desc {
    uint64_t addr;
    uint32_t len;
    uint16_t flags, next;
};

static struct fake_bus f;
static struct pci pci;

static void
put_desc(unsigned queue, unsigned n, struct desc d)
{
    memcpy(f.ram + (queue + 1) * QUEUE_BYTES + n * sizeof d, &d, sizeof d);
}

static uint16_t
get16(uint32_t at)
{
    uint16_t v;

    memcpy(&v, f.ram + at, sizeof v);
    return v;
}

static void
put16(uint32_t at, uint16_t v)
{
    memcpy(f.ram + at, &v, sizeof v);
}

/* Announces the chain that begins with a descriptor. */
static void
announce(const struct virtio *v, unsigned queue, uint16_t head)
{
    uint32_t avail = (queue + 1) * QUEUE_BYTES + AVAIL;
    uint16_t n = get16(avail + 2);

    put16(avail + 4 + 2 * (n % VIRTIO_QUEUE_SIZE), head);
    put16(avail + 2, (uint16_t)(n + 1));
    v->pci->write(v->pci->self, 16, queue, 2);
}

static unsigned
n_used(unsigned queue)
{
    return get16((queue + 1) * QUEUE_BYTES + USED + 2);
}

static uint32_t
used_len(unsigned queue, unsigned n)
{
    uint32_t len;

    memcpy(&len, f.ram + (queue + 1) * QUEUE_BYTES + USED + 4 + 8 * n + 4,
           sizeof len);
    return len;
}

static void
start_queues(const struct virtio *v)
{
    for (unsigned q = 0; q < v->n_queues; q++) {
        v->pci->write(v->pci->self, 14, q, 2);
        v->pci->write(v->pci->self, 8, (q + 1) * QUEUE_BYTES / 4096, 4);
    }
    v->pci->write(v->pci->self, 18, 7, 1);
}

static struct disk *
small_disk(void)
{
    struct disk *d = NULL;
    int hfd = memfd_create("disk", MFD_CLOEXEC);

    CHECK_EQ(ftruncate(hfd, 64 << 10), 0);
    CHECK_EQ(disk_new(hfd, 1 << 20, &d), 0);
    return d;
}

static void
plug_blk(struct virtio_blk *b, struct disk *d)
{
    pci_init(&pci);
    virtio_blk_init(b, fake_bus_init(&f), &pci, d);
    start_queues(&b->virtio);
}

/* Sends one request with two pieces of data. Returns the status. */
static uint8_t
request(struct virtio_blk *b, uint32_t type, uint64_t sector, unsigned flags)
{
    uint32_t head[4] = {type, 0, (uint32_t)sector, (uint32_t)(sector >> 32)};

    memcpy(f.ram + BUFFERS, head, sizeof head);
    f.ram[BUFFERS + 0x3000] = 0xee;
    put_desc(0, 3, (struct desc){BUFFERS, 16, NEXT, 4});
    put_desc(0, 4,
             (struct desc){BUFFERS + 0x1000, 512, (uint16_t)(NEXT | flags), 5});
    put_desc(0, 5,
             (struct desc){BUFFERS + 0x2000, 512, (uint16_t)(NEXT | flags), 6});
    put_desc(0, 6, (struct desc){BUFFERS + 0x3000, 1, WRITE, 0});
    announce(&b->virtio, 0, 3);
    return f.ram[BUFFERS + 0x3000];
}

TEST(blk_reads_back_what_was_written)
{
    struct disk *d = small_disk();
    struct virtio_blk b;

    plug_blk(&b, d);
    memset(f.ram + BUFFERS + 0x1000, 'a', 512);
    memset(f.ram + BUFFERS + 0x2000, 'b', 512);
    CHECK_EQ(request(&b, 1, 5, 0), 0);
    CHECK(f.is_high[11]);
    CHECK_EQ(b.virtio.pci->read(b.virtio.pci->self, 19, 1), 1);
    CHECK(!f.is_high[11]);
    memset(f.ram + BUFFERS + 0x1000, 0, 0x2000);
    CHECK_EQ(request(&b, 0, 5, WRITE), 0);
    CHECK_EQ(f.ram[BUFFERS + 0x1000], 'a');
    CHECK_EQ(f.ram[BUFFERS + 0x21ff], 'b');
    CHECK_EQ(n_used(0), 2);
    CHECK_EQ(used_len(0, 1), 1025);
    disk_free(d);
}

TEST(blk_answers_requests_that_it_cannot_serve)
{
    struct disk *d = small_disk();
    struct virtio_blk b;

    plug_blk(&b, d);
    CHECK_EQ(request(&b, 0, 127, WRITE), 1); /* half of it is outside */
    CHECK_EQ(request(&b, 0, 1ull << 55, WRITE), 1);
    CHECK_EQ(request(&b, 4, 0, WRITE), 0);
    CHECK_EQ(request(&b, 99, 0, WRITE), 2);
    CHECK_EQ(request(&b, 8, 0, WRITE), 0);
    CHECK(!memcmp(f.ram + BUFFERS + 0x1000, "wasmsand", 9));
    CHECK_EQ(n_used(0), 5);
    disk_free(d);
}

/* Sends a discard of a range, or of something that is none. */
static uint8_t
discard(struct virtio_blk *b, uint64_t sector, uint32_t sectors, uint32_t len)
{
    uint32_t head[4] = {11, 0, 0, 0};
    uint32_t range[4] = {(uint32_t)sector, (uint32_t)(sector >> 32), sectors};

    memcpy(f.ram + BUFFERS, head, sizeof head);
    memcpy(f.ram + BUFFERS + 0x1000, range, sizeof range);
    put_desc(0, 3, (struct desc){BUFFERS, 16, NEXT, 4});
    put_desc(0, 4, (struct desc){BUFFERS + 0x1000, len, NEXT, 5});
    put_desc(0, 5, (struct desc){BUFFERS + 0x3000, 1, WRITE, 0});
    announce(&b->virtio, 0, 3);
    return f.ram[BUFFERS + 0x3000];
}

TEST(blk_discards_changes)
{
    struct disk *d = small_disk();
    struct virtio_blk b;

    plug_blk(&b, d);
    CHECK_EQ(request(&b, 1, 8, 0), 0);
    CHECK_EQ(disk_overlay_bytes(d), 4096);
    CHECK_EQ(discard(&b, 8, 8, 15), 1);
    CHECK_EQ(discard(&b, 1ull << 55, 8, 16), 1);
    CHECK_EQ(discard(&b, 8, UINT32_MAX, 16), 1);
    CHECK_EQ(disk_overlay_bytes(d), 4096);
    CHECK_EQ(discard(&b, 8, 8, 16), 0);
    CHECK_EQ(disk_overlay_bytes(d), 0);
    CHECK_EQ(request(&b, 11, 0, WRITE), 1); /* nothing to read */
    disk_free(d);
}

TEST(malformed_buffers_are_returned_and_skipped)
{
    struct disk *d = small_disk();
    struct virtio_blk b;

    plug_blk(&b, d);
    put_desc(0, 0, (struct desc){BUFFERS, 16, NEXT, 0}); /* leads to itself */
    announce(&b.virtio, 0, 0);
    put_desc(0, 1, (struct desc){FAKE_RAM_BYTES - 8, 16, 0, 0});
    announce(&b.virtio, 0, 1);
    put_desc(0, 2, (struct desc){UINT64_MAX, UINT32_MAX, WRITE, 0});
    announce(&b.virtio, 0, 2);
    announce(&b.virtio, 0, 60000); /* no such descriptor */
    CHECK_EQ(n_used(0), 4);
    CHECK_EQ(used_len(0, 1), 0);
    CHECK_EQ(request(&b, 4, 0, WRITE), 0);

    /* More buffers than a queue has: none is handled. */
    put16(QUEUE_BYTES + AVAIL + 2, 5000);
    b.virtio.pci->write(b.virtio.pci->self, 16, 0, 2);
    CHECK_EQ(n_used(0), 5);
    disk_free(d);
}

TEST(queues_outside_the_memory_are_not_used)
{
    struct disk *d = small_disk();
    struct virtio_blk b;
    struct pci_device *dev;

    plug_blk(&b, d);
    dev = b.virtio.pci;
    dev->write(dev->self, 8, UINT32_MAX, 4);
    dev->write(dev->self, 16, 0, 2);
    dev->write(dev->self, 8, FAKE_RAM_BYTES / 4096 - 1, 4);
    dev->write(dev->self, 16, 0, 2);
    dev->write(dev->self, 14, 77, 2); /* no such queue */
    dev->write(dev->self, 8, 1, 4);
    dev->write(dev->self, 16, 77, 2);
    CHECK_EQ(dev->read(dev->self, 12, 2), 0);
    dev->write(dev->self, 18, 0, 1); /* reset */
    CHECK_EQ(dev->read(dev->self, 18, 1), 0);
    CHECK_EQ(dev->read(dev->self, 14, 2), 0);
    CHECK_EQ(dev->read(dev->self, 12, 2), VIRTIO_QUEUE_SIZE);
    CHECK_EQ(dev->read(dev->self, 20, 4), 128); /* sectors */
    disk_free(d);
}

static uint8_t output[64];
static uint32_t n_output, output_max;

static uint32_t
on_output(void *self, const uint8_t *p, uint32_t len)
{
    uint32_t n = len < output_max - n_output ? len : output_max - n_output;

    (void)self;
    memcpy(output + n_output, p, n);
    n_output += n;
    return n;
}

static void
plug_console(struct virtio_console *c)
{
    n_output = 0;
    output_max = sizeof output;
    pci_init(&pci);
    virtio_console_init(c, fake_bus_init(&f), &pci, on_output, NULL);
    start_queues(&c->virtio);
}

static void
send_event(struct virtio_console *c, struct console_event e)
{
    memcpy(f.ram + BUFFERS, &e, sizeof e);
    put_desc(3, 0, (struct desc){BUFFERS, sizeof e, 0, 0});
    announce(&c->virtio, 3, 0);
}

TEST(console_announces_its_port_and_opens_it)
{
    struct virtio_console c;
    struct console_event e;

    plug_console(&c);
    send_event(&c, (struct console_event){0, 0, 1}); /* the driver is ready */
    CHECK_EQ(n_used(2), 0);
    for (uint16_t i = 0; i < 2; i++) {
        put_desc(2, i, (struct desc){BUFFERS + 0x1000 + i * 64u, 64, WRITE, 0});
        announce(&c.virtio, 2, i);
    }
    memcpy(&e, f.ram + BUFFERS + 0x1000, sizeof e);
    CHECK(e.port == 1 && e.event == 1 && e.value == 1);
    send_event(&c, (struct console_event){1, 3, 1}); /* the port is ready */
    memcpy(&e, f.ram + BUFFERS + 0x1040, sizeof e);
    CHECK(e.port == 1 && e.event == 6 && e.value == 1);
    CHECK(!c.is_open);
    send_event(&c, (struct console_event){1, 6, 1});
    CHECK(c.is_open);
}

TEST(console_input_fills_the_buffers_that_there_are)
{
    struct virtio_console c;

    plug_console(&c);
    CHECK_EQ(virtio_console_input(&c, (const uint8_t *)"hello", 5), 0);
    put_desc(4, 0, (struct desc){BUFFERS, 3, WRITE, 0});
    announce(&c.virtio, 4, 0);
    CHECK_EQ(virtio_console_input(&c, (const uint8_t *)"hello", 5), 3);
    CHECK(!memcmp(f.ram + BUFFERS, "hel", 3));
    CHECK_EQ(used_len(4, 0), 3);
    CHECK(f.is_dirty[BUFFERS / 4096]);
}

TEST(console_output_waits_until_the_host_takes_it)
{
    struct virtio_console c;

    plug_console(&c);
    output_max = 4;
    memcpy(f.ram + BUFFERS, "abcdef", 6);
    put_desc(5, 0, (struct desc){BUFFERS, 3, NEXT, 1});
    put_desc(5, 1, (struct desc){BUFFERS + 3, 3, 0, 0});
    announce(&c.virtio, 5, 0);
    CHECK_EQ(n_output, 4);
    CHECK_EQ(n_used(5), 0);
    virtio_console_resume(&c);
    CHECK_EQ(n_used(5), 0);
    output_max = sizeof output;
    virtio_console_resume(&c);
    CHECK_EQ(n_used(5), 1);
    CHECK(n_output == 6 && !memcmp(output, "abcdef", 6));
}

/* A hostile guest of the x86 computer: any accesses to ports, any content of
 * the queues in its RAM, beside input of the host. The core is replaced by one
 * that performs the accesses of the fuzzer's input. The sanitizers find
 * accesses outside the RAM, and the limits of disk and input are checked. */
#include "v86/core.h"
#include "v86/machine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    RAM_BYTES = 1 << 20,
    DISK_BYTES = 64 << 10,
    OVERLAY_BYTES = 32 << 10,
    DEVICE_PORTS = 0xc000,
    DEVICE_BLOCK = 64,
    PCI_ADDRESS = 0xcf8,
    PCI_DATA = 0xcfc,
};

static void
must(bool ok)
{
    if (!ok)
        abort();
}

/* --- the core --- */

struct core {
    struct core_host host;
    uint8_t *ram;
};

int
core_new(uint32_t ram_bytes, const struct core_host *host,
         OWN struct core **ret)
{
    struct core *core = calloc(1, sizeof *core);

    must(core && ram_bytes == RAM_BYTES);
    core->host = *host;
    core->ram = calloc(1, RAM_BYTES);
    must(core->ram);
    *ret = core;
    return 0;
}

void
core_free(struct core *core)
{
    if (!core)
        return;
    free(core->ram);
    free(core);
}

int
core_run(struct core *core, double *ret_idle_ms)
{
    *ret_idle_ms = core->host.run_timers(core->host.self,
                                         core->host.now_ms(core->host.self));
    return 0;
}

const char *
core_error(const struct core *core)
{
    (void)core;
    return "";
}

bool
core_is_halted(const struct core *core)
{
    (void)core;
    return false;
}

void
core_raise_irq(struct core *core, unsigned line)
{
    (void)core;
    (void)line;
}

void
core_lower_irq(struct core *core, unsigned line)
{
    (void)core;
    (void)line;
}

uint8_t *
core_ram(struct core *core)
{
    return core->ram;
}

void
core_dirty(struct core *core, uint32_t start, uint32_t end)
{
    (void)core;
    must(start <= end && end <= RAM_BYTES);
}

/* --- the guest --- */

struct guest {
    const uint8_t *p, *end;
    struct machine *machine;
    struct core *core;
    uint32_t accepts; /* bytes that the host takes of the agent at a time */
};

static uint32_t
take(struct guest *g, unsigned bytes)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < bytes && g->p < g->end; i++)
        value |= (uint32_t)*g->p++ << 8 * i;
    return value;
}

static void
write_port(struct guest *g, uint32_t port, uint32_t value, unsigned bytes)
{
    const struct core_host *h = &g->core->host;

    h->port_write(h->self, port, value & bus_absent(bytes), bytes);
}

static void
read_port(struct guest *g, uint32_t port, unsigned bytes)
{
    const struct core_host *h = &g->core->host;

    (void)h->port_read(h->self, port, bytes);
}

/* The ports of devices, each as likely as the others; sometimes any port. */
static uint32_t
take_port(struct guest *g)
{
    static const struct {
        uint16_t first, count;
    } blocks[] = {{0x40, 4},  {0x60, 5},   {0x70, 2},  {0x92, 1},    {0xa0, 2},
                  {0x1f0, 8}, {0x170, 8},  {0x3f6, 1}, {0x2f8, 8},   {0x3f8, 8},
                  {0x402, 1}, {0x510, 12}, {0xcf8, 8}, {0xc000, 512}};
    uint32_t block = take(g, 1), port = take(g, 2);

    if (block >= 250)
        return port;
    if (block >= 100) /* those of virtio devices more often */
        return DEVICE_PORTS + port % (8 * DEVICE_BLOCK);
    block %= sizeof blocks / sizeof *blocks;
    return blocks[block].first + port % blocks[block].count;
}

/* Writes to the first pages, where the queues are. */
static void
poke(struct guest *g)
{
    uint32_t at = take(g, 2) % (RAM_BYTES / 16), bytes = 1 + take(g, 1) % 16;

    for (uint32_t i = 0; i < bytes; i++)
        g->core->ram[at + i] = (uint8_t)take(g, 1);
}

/* A queue of a device at a page, with one buffer in it. */
static void
add_queue(struct guest *g)
{
    uint32_t base = DEVICE_PORTS + take(g, 1) % 8 * DEVICE_BLOCK;
    uint32_t page = 1 + take(g, 1) % 8, queue = take(g, 1) % 8;
    uint8_t *avail = g->core->ram + page * 4096 + 16 * 128;
    uint16_t index;

    write_port(g, base + 14, queue, 2);
    write_port(g, base + 8, page, 4);
    memcpy(&index, avail + 2, sizeof index);
    avail[4 + 2 * (index % 128)] = (uint8_t)take(g, 1) % 128;
    index++;
    memcpy(avail + 2, &index, sizeof index);
    write_port(g, base + 16, queue, 2);
}

/* A descriptor: address, length, flags and next one. */
static void
add_descriptor(struct guest *g)
{
    uint32_t page = 1 + take(g, 1) % 8, index = take(g, 1) % 128;
    uint8_t *d = g->core->ram + page * 4096 + 16 * index;
    uint64_t addr = take(g, 1) ? take(g, 3) : take(g, 4);
    uint32_t len = take(g, 2) << take(g, 1) % 17;
    uint16_t flags = (uint16_t)(take(g, 1) & 7), next = take(g, 1) & 0xff;

    memcpy(d, &addr, 8);
    memcpy(d + 8, &len, 4);
    memcpy(d + 12, &flags, 2);
    memcpy(d + 14, &next, 2);
}

static void
input(struct guest *g,
      size_t (*pass)(struct machine *, const uint8_t *, size_t))
{
    size_t len = take(g, 1), left = (size_t)(g->end - g->p);

    len = len < left ? len : left;
    must(pass(g->machine, g->p, len) <= len);
    g->p += len;
}

static void
act(struct guest *g)
{
    static const uint8_t sizes[] = {1, 2, 4, 1};
    uint32_t action = take(g, 1);
    unsigned bytes = sizes[action >> 6];
    double idle_ms;

    switch (action % 10) {
    case 0:
    case 1:
        write_port(g, take_port(g), take(g, bytes), bytes);
        break;
    case 2:
    case 3:
        read_port(g, take_port(g), bytes);
        break;
    case 4:
        poke(g);
        break;
    case 5:
        add_descriptor(g);
        break;
    case 6:
        add_queue(g);
        break;
    case 7:
        input(g, machine_agent_input);
        break;
    case 8:
        input(g, machine_serial_input);
        break;
    default:
        g->accepts = take(g, 1);
        machine_agent_resume(g->machine);
        (void)machine_run(g->machine, &idle_ms);
        break;
    }
}

/* Puts the ports of all PCI devices where take_port finds them. */
static void
map_devices(struct guest *g)
{
    for (uint32_t i = 0; i < 8; i++) {
        write_port(g, PCI_ADDRESS, 0x80000010 | i << 11, 4);
        write_port(g, PCI_DATA, DEVICE_PORTS + i * DEVICE_BLOCK, 4);
        write_port(g, PCI_ADDRESS, 0x80000004 | i << 11, 4);
        write_port(g, PCI_DATA, 1, 2);
    }
}

static void
guest_serial(void *self, uint8_t byte)
{
    (void)self;
    (void)byte;
}

/* All bytes must be readable. */
static uint32_t
guest_agent(void *self, const uint8_t *p, uint32_t len)
{
    struct guest *g = self;
    uint32_t sum = 0;

    for (uint32_t i = 0; i < len; i++)
        sum += p[i];
    must(sum <= 255u * (uint64_t)len);
    return len < g->accepts ? len : g->accepts;
}

static struct disk *
make_disk(void)
{
    int hfd = memfd_create("disk", MFD_CLOEXEC);
    struct disk *d = NULL;

    must(hfd >= 0 && !ftruncate(hfd, DISK_BYTES));
    must(!disk_new(hfd, OVERLAY_BYTES, &d));
    return d;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct guest g = {.p = data, .end = data + size, .accepts = 1 << 20};
    struct disk *disk = make_disk();
    struct machine_options options = {.ram_bytes = RAM_BYTES,
                                      .disk = disk,
                                      .self = &g,
                                      .serial = guest_serial,
                                      .agent = guest_agent};

    must(!machine_new(&options, &g.machine));
    g.core = machine_core(g.machine);
    map_devices(&g);
    while (g.p < g.end)
        act(&g);
    must(disk_overlay_bytes(disk) <= OVERLAY_BYTES);
    machine_free(g.machine);
    disk_free(disk);
    return 0;
}

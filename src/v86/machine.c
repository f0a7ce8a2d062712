/* Port addresses and interrupt lines are those of a PC, because Linux finds
 * these devices without a description. Devices on the PCI bus are asked first:
 * the guest chooses their ports, all others are fixed. A port without a device
 * reads as ones, as on an empty bus.
 *
 * The guest's clock is the host's monotonic clock without the time in which the
 * machine was stopped. */
#include "v86/machine.h"

#include "base/os_time.h"
#include "v86/core.h"
#include "v86/pci.h"
#include "v86/pit.h"
#include "v86/rtc.h"
#include "v86/uart.h"
#include "v86/virtio_blk.h"
#include "v86/virtio_console.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

enum {
    PORT_PIT = 0x40,
    PORT_GATE = 0x61,
    PORT_RTC_INDEX = 0x70,
    PORT_RTC_DATA = 0x71,
    PORT_A20 = 0x92,
    PORT_SERIAL_2 = 0x2f8,
    PORT_SERIAL_1 = 0x3f8,
    PORT_PCI = 0xcf8,
    PORT_RESET = 0xcf9,
};

enum { PIT_PORTS = 4, SERIAL_PORTS = 8, PCI_PORTS = 8 };
enum { SERIAL_1_LINE = 4, SERIAL_2_LINE = 3, RESET_CPU = 4 };

struct machine {
    struct core *core;
    struct bus bus;
    struct pit pit;
    struct rtc rtc;
    struct pci pci;
    struct uart serial[2];
    struct virtio_blk blk;
    struct virtio_console console;
    int64_t stopped_ns; /* of the host's clock; the guest's is behind by this */
    int64_t stop_ns;    /* when the clock was stopped; 0: it runs */
    bool is_off;
};

/* --- what the core needs --- */

static double
machine_now_ms(void *self)
{
    const struct machine *m = self;

    return (double)(time_mono_ns() - m->stopped_ns) / NS_PER_MS;
}

static double
machine_run_timers(void *self, double now_ms)
{
    struct machine *m = self;

    return pit_run(&m->pit, now_ms);
}

/* Reads no buffer, because a forked process would share its bytes. */
static uint32_t
machine_random(void *self)
{
    uint32_t value = 0;

    (void)self;
    (void)!getrandom(&value, sizeof value, 0);
    return value;
}

static uint32_t
machine_read_byte(struct machine *m, uint32_t port)
{
    if (port - PORT_SERIAL_1 < SERIAL_PORTS)
        return uart_read(&m->serial[0], port - PORT_SERIAL_1);
    if (port - PORT_SERIAL_2 < SERIAL_PORTS)
        return uart_read(&m->serial[1], port - PORT_SERIAL_2);
    if (port - PORT_PIT < PIT_PORTS)
        return pit_read(&m->pit, port - PORT_PIT, machine_now_ms(m));

    switch (port) {
    case PORT_GATE:
        return pit_read_gate(&m->pit, machine_now_ms(m));
    case PORT_RTC_DATA:
        return rtc_read(&m->rtc, time_wall_ns() / NS_PER_S);
    case PORT_A20:
        return 2; /* address line 20 works */
    default:
        return bus_absent(1);
    }
}

static uint32_t
machine_port_read(void *self, uint32_t port, unsigned bytes)
{
    struct machine *m = self;
    unsigned reg;
    struct pci_device *d = pci_find(&m->pci, port, &reg);

    if (d)
        return d->read(d->self, reg, bytes);
    if (port - PORT_PCI < PCI_PORTS)
        return pci_read(&m->pci, port - PORT_PCI, bytes);
    return bytes == 1 ? machine_read_byte(m, port) : bus_absent(bytes);
}

static void
machine_write_byte(struct machine *m, uint32_t port, uint8_t value)
{
    if (port - PORT_SERIAL_1 < SERIAL_PORTS)
        uart_write(&m->serial[0], port - PORT_SERIAL_1, value);
    else if (port - PORT_SERIAL_2 < SERIAL_PORTS)
        uart_write(&m->serial[1], port - PORT_SERIAL_2, value);
    else if (port - PORT_PIT < PIT_PORTS)
        pit_write(&m->pit, port - PORT_PIT, value, machine_now_ms(m));
    else if (port == PORT_GATE)
        pit_write_gate(&m->pit, value, machine_now_ms(m));
    else if (port == PORT_RTC_INDEX)
        rtc_select(&m->rtc, value);
    else if (port == PORT_RTC_DATA)
        rtc_write(&m->rtc, value);
}

static void
machine_port_write(void *self, uint32_t port, uint32_t value, unsigned bytes)
{
    struct machine *m = self;
    unsigned reg;
    struct pci_device *d = pci_find(&m->pci, port, &reg);

    if (d)
        d->write(d->self, reg, value, bytes);
    else if (port == PORT_RESET && bytes == 1)
        m->is_off |= (value & RESET_CPU) != 0;
    else if (port - PORT_PCI < PCI_PORTS)
        pci_write(&m->pci, port - PORT_PCI, value, bytes);
    else if (bytes == 1)
        machine_write_byte(m, port, (uint8_t)value);
}

/* There is no device with memory: no screen, and no ROM. */
static uint32_t
machine_mmio_read(void *self, uint32_t addr, unsigned bytes)
{
    (void)self;
    (void)addr;
    return bus_absent(bytes);
}

static void
machine_mmio_write(void *self, uint32_t addr, uint32_t value, unsigned bytes)
{
    (void)self;
    (void)addr;
    (void)value;
    (void)bytes;
}

/* --- what devices need --- */

static void
machine_set_irq(void *self, unsigned line, bool is_high)
{
    struct machine *m = self;

    if (is_high)
        core_raise_irq(m->core, line);
    else
        core_lower_irq(m->core, line);
}

static void
machine_dirtied(void *self, uint32_t start, uint32_t end)
{
    struct machine *m = self;

    core_dirty(m->core, start, end);
}

/* The second serial port is connected to nothing. */
static void
machine_drop_byte(void *self, uint8_t byte)
{
    (void)self;
    (void)byte;
}

/* --- the computer --- */

static void
machine_init_devices(struct machine *m, const struct machine_options *o)
{
    m->bus = (struct bus){.self = m,
                          .set_irq = machine_set_irq,
                          .dirtied = machine_dirtied,
                          .ram = core_ram(m->core),
                          .ram_bytes = o->ram_bytes};
    pit_init(&m->pit, &m->bus);
    rtc_init(&m->rtc, o->ram_bytes);
    pci_init(&m->pci);
    uart_init(&m->serial[0], &m->bus, SERIAL_1_LINE, o->serial, o->self);
    uart_init(&m->serial[1], &m->bus, SERIAL_2_LINE, machine_drop_byte, NULL);
    /* The first virtio device has number 0 in the names of its ports. */
    virtio_console_init(&m->console, &m->bus, &m->pci, o->agent, o->self);
    virtio_blk_init(&m->blk, &m->bus, &m->pci, o->disk);
}

int
machine_new(const struct machine_options *o, OWN struct machine **ret)
{
    struct machine *m = calloc(1, sizeof *m);

    if (!m)
        return -ENOMEM;

    struct core_host host = {
        .self = m,
        .port_read = machine_port_read,
        .port_write = machine_port_write,
        .mmio_read = machine_mmio_read,
        .mmio_write = machine_mmio_write,
        .now_ms = machine_now_ms,
        .run_timers = machine_run_timers,
        .random = machine_random,
    };
    m->stopped_ns = time_mono_ns();
    int r = core_new(o->ram_bytes, &host, &m->core);
    if (r < 0) {
        free(m);
        return r;
    }
    machine_init_devices(m, o);
    *ret = m;
    return 0;
}

void
machine_free(struct machine *m)
{
    if (!m)
        return;
    core_free(m->core);
    free(m);
}

int
machine_run(struct machine *m, double *ret_idle_ms)
{
    int r = core_run(m->core, ret_idle_ms);

    if (r < 0)
        return r;
    return m->is_off || core_is_halted(m->core) ? -ESHUTDOWN : 0;
}

const char *
machine_error(const struct machine *m)
{
    return core_error(m->core);
}

void
machine_stop_clock(struct machine *m)
{
    m->stop_ns = time_mono_ns();
}

void
machine_start_clock(struct machine *m)
{
    m->stopped_ns += time_mono_ns() - m->stop_ns;
    m->stop_ns = 0;
}

size_t
machine_serial_input(struct machine *m, const uint8_t *p, size_t len)
{
    return uart_receive(&m->serial[0], p, len);
}

size_t
machine_agent_input(struct machine *m, const uint8_t *p, size_t len)
{
    return virtio_console_input(&m->console, p,
                                len > UINT32_MAX ? UINT32_MAX : (uint32_t)len);
}

void
machine_agent_resume(struct machine *m)
{
    virtio_console_resume(&m->console);
}

const struct bus *
machine_bus(struct machine *m)
{
    return &m->bus;
}

struct core *
machine_core(struct machine *m)
{
    return m->core;
}

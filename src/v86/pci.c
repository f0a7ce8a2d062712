#include "v86/pci.h"

#include "v86/bus.h"

#include <string.h>

enum { PCI_ADDRESS = 0, PCI_DATA = 4 };

/* Of the configuration space. */
enum {
    CONFIG_COMMAND = 0x04,
    CONFIG_CLASS = 0x08,
    CONFIG_PORTS = 0x10,
    CONFIG_SUBSYSTEM = 0x2c,
    CONFIG_LINE = 0x3c,
    CONFIG_PIN = 0x3d,
    CONFIG_OWN = 0x40, /* registers of the device's own begin here */
    CONFIG_PAM = 0x59, /* of the host bridge: the BIOS's memory is RAM */
};

enum { COMMAND_PORTS = 1, PORTS_MARK = 1 };

static void
pci_put(uint8_t *p, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t
pci_get32(const uint8_t *p)
{
    return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static struct pci_device *
pci_add_plain(struct pci *pci, const struct pci_ident *ident)
{
    struct pci_device *d = &pci->device[pci->n++];

    pci_put(d->config, ident->vendor | (uint32_t)ident->device << 16, 4);
    pci_put(d->config + CONFIG_CLASS, ident->class_revision, 4);
    pci_put(d->config + CONFIG_SUBSYSTEM,
            ident->subsystem_vendor | (uint32_t)ident->subsystem << 16, 4);
    d->writable[CONFIG_COMMAND] = 7;
    d->config[CONFIG_COMMAND] = 7;
    return d;
}

/* The identities are those of the chip set that QEMU has, which SeaBIOS
 * knows. */
void
pci_init(struct pci *pci)
{
    static const struct pci_ident host = {
        .vendor = 0x8086,
        .device = 0x1237,
        .subsystem_vendor = 0x1af4,
        .subsystem = 0x1100,
        .class_revision = 0x06000002,
    };
    static const struct pci_ident isa = {
        .vendor = 0x8086,
        .device = 0x7000,
        .subsystem_vendor = 0x1af4,
        .subsystem = 0x1100,
        .class_revision = 0x06010000,
    };

    *pci = (struct pci){0};
    for (int i = 0; i < 2; i++) {
        struct pci_device *d = pci_add_plain(pci, i ? &isa : &host);
        memset(d->writable + CONFIG_OWN, 0xff, PCI_CONFIG_BYTES - CONFIG_OWN);
    }
    pci->device[0].config[CONFIG_PAM] = 0x10;
}

struct pci_device *
pci_add(struct pci *pci, const struct pci_ident *ident, uint32_t base,
        uint32_t ports, unsigned line)
{
    struct pci_device *d = pci_add_plain(pci, ident);

    d->ports = ports;
    pci_put(d->config + CONFIG_PORTS, base | PORTS_MARK, 4);
    pci_put(d->writable + CONFIG_PORTS, ~(ports - 1), 4);
    d->config[CONFIG_LINE] = (uint8_t)line;
    d->writable[CONFIG_LINE] = 0xff;
    d->config[CONFIG_PIN] = 1;
    return d;
}

struct pci_device *
pci_find(struct pci *pci, uint32_t port, unsigned *ret_reg)
{
    for (unsigned i = 0; i < pci->n; i++) {
        struct pci_device *d = &pci->device[i];
        uint32_t base = pci_get32(d->config + CONFIG_PORTS) & ~3u;

        if (d->ports && (d->config[CONFIG_COMMAND] & COMMAND_PORTS) &&
            port - base < d->ports) {
            *ret_reg = port - base;
            return d;
        }
    }
    return NULL;
}

unsigned
pci_line(const struct pci_device *d)
{
    return d->config[CONFIG_LINE] & 15;
}

/* Returns the device that the address register names, or NULL. */
static struct pci_device *
pci_selected(struct pci *pci)
{
    uint32_t a = pci->address;
    unsigned bus = a >> 16 & 0xff, n = a >> 11 & 31, function = a >> 8 & 7;

    if (!(a >> 31) || bus || function || n >= pci->n)
        return NULL;
    return &pci->device[n];
}

uint32_t
pci_read(struct pci *pci, unsigned reg, unsigned bytes)
{
    struct pci_device *d = pci_selected(pci);

    if (reg == PCI_ADDRESS && bytes == 4)
        return pci->address;
    if (reg < PCI_DATA || reg + bytes > 8 || !d)
        return bus_absent(bytes);
    return pci_get32(d->config + (pci->address & 0xfc)) >> 8 * (reg & 3) &
           bus_absent(bytes);
}

void
pci_write(struct pci *pci, unsigned reg, uint32_t value, unsigned bytes)
{
    struct pci_device *d = pci_selected(pci);

    if (reg == PCI_ADDRESS && bytes == 4)
        pci->address = value;
    if (reg < PCI_DATA || reg + bytes > 8 || !d)
        return;
    for (unsigned i = 0; i < bytes; i++) {
        unsigned at = (pci->address & 0xfc) + (reg & 3) + i;
        uint8_t mask = d->writable[at], byte = (uint8_t)(value >> 8 * i);

        d->config[at] = (uint8_t)((d->config[at] & ~mask) | (byte & mask));
    }
}

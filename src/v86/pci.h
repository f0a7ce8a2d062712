/* The PCI bus: configuration mechanism 1 (ports 0xcf8 and 0xcfc), and the ports
 * of devices. Each device has one block of ports, a power of two in size. */
#ifndef V86_PCI_H
#define V86_PCI_H

#include <stdbool.h>
#include <stdint.h>

enum { PCI_DEVICES = 8, PCI_CONFIG_BYTES = 256 };

struct pci_device {
    uint8_t config[PCI_CONFIG_BYTES];
    uint8_t writable[PCI_CONFIG_BYTES]; /* a mask for each byte */
    uint32_t ports;                     /* size of the block; 0: none */
    void *self;
    uint32_t (*read)(void *self, unsigned reg, unsigned bytes);
    void (*write)(void *self, unsigned reg, uint32_t value, unsigned bytes);
};

struct pci_ident {
    uint16_t vendor, device, subsystem_vendor, subsystem;
    uint32_t class_revision; /* class, subclass, interface, revision */
};

struct pci {
    uint32_t address;
    unsigned n;
    struct pci_device device[PCI_DEVICES];
};

/* Makes a bus with a host bridge and an ISA bridge. */
void pci_init(struct pci *pci);
/* Adds a device with a block of ports at `base` and an interrupt line. The
 * guest may move the block and change the line. */
struct pci_device *pci_add(struct pci *pci, const struct pci_ident *ident,
                           uint32_t base, uint32_t ports, unsigned line);
/* Returns the device whose block contains the port, with the register, or
 * NULL. */
struct pci_device *pci_find(struct pci *pci, uint32_t port, unsigned *ret_reg);
/* Returns the interrupt line that the guest has chosen. */
unsigned pci_line(const struct pci_device *d);

/* Ports 0xcf8 to 0xcff are the registers 0 to 7. */
uint32_t pci_read(struct pci *pci, unsigned reg, unsigned bytes);
void pci_write(struct pci *pci, unsigned reg, uint32_t value, unsigned bytes);

#endif

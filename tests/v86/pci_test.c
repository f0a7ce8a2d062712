#include "v86/pci.h"

#include "../unit/test.h"

static const struct pci_ident card = {
    .vendor = 0x1af4, .device = 0x1001, .class_revision = 0x01000000};

static uint32_t
config(struct pci *pci, unsigned device, unsigned reg)
{
    pci_write(pci, 0, 1u << 31 | device << 11 | reg, 4);
    return pci_read(pci, 4, 4);
}

TEST(pci_lists_its_bridges_and_the_added_device)
{
    struct pci pci;

    pci_init(&pci);
    (void)pci_add(&pci, &card, 0xc000, 64, 11);
    CHECK_EQ(config(&pci, 0, 0), 0x12378086);
    CHECK_EQ(config(&pci, 1, 0), 0x70008086);
    CHECK_EQ(config(&pci, 2, 0), 0x10011af4);
    CHECK_EQ(config(&pci, 2, 8), 0x01000000);
    CHECK_EQ(config(&pci, 2, 0x3c), 0x010b);
    CHECK_EQ(config(&pci, 3, 0), UINT32_MAX);
    CHECK_EQ(config(&pci, 2 | 1 << 5, 0), UINT32_MAX); /* bus 1 */
    pci_write(&pci, 0, 2 << 11, 4);                    /* not enabled */
    CHECK_EQ(pci_read(&pci, 4, 4), UINT32_MAX);
}

TEST(pci_devices_tell_the_size_of_their_ports_and_can_be_moved)
{
    struct pci pci;
    unsigned reg = 0;

    pci_init(&pci);
    struct pci_device *d = pci_add(&pci, &card, 0xc000, 64, 11);
    CHECK(pci_find(&pci, 0xc03f, &reg) == d && reg == 63);
    CHECK(!pci_find(&pci, 0xc040, &reg));
    CHECK(!pci_find(&pci, 0xbfff, &reg));
    CHECK_EQ(config(&pci, 2, 0x10), 0xc001);
    pci_write(&pci, 4, UINT32_MAX, 4);
    CHECK_EQ(pci_read(&pci, 4, 4), 0xffffffc1);
    pci_write(&pci, 4, 0x1040, 4);
    CHECK(pci_find(&pci, 0x1042, &reg) == d && reg == 2);
    (void)config(&pci, 2, 4);
    pci_write(&pci, 4, 0, 1); /* the command register: no ports */
    CHECK(!pci_find(&pci, 0x1042, &reg));
}

TEST(pci_registers_are_read_and_written_in_parts)
{
    struct pci pci;

    pci_init(&pci);
    struct pci_device *d = pci_add(&pci, &card, 0xc000, 64, 11);
    (void)config(&pci, 2, 0);
    CHECK_EQ(pci_read(&pci, 6, 2), 0x1001);
    CHECK_EQ(pci_read(&pci, 7, 1), 0x10);
    CHECK_EQ(pci_read(&pci, 7, 2), 0xffff);
    pci_write(&pci, 4, 0, 4); /* the identity is read-only */
    CHECK_EQ(pci_read(&pci, 4, 2), 0x1af4);
    (void)config(&pci, 2, 0x3c);
    pci_write(&pci, 4, 0xf5, 1);
    CHECK_EQ(pci_line(d), 5);
}

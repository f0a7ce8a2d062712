/* The kernel is loaded as an ELF file and not as a compressed image, because
 * unpacking it would take ten times as long as the rest of the boot. Its entry
 * expects 32-bit protected mode with flat segments, and the address of the
 * "zero page" in esi (Documentation/x86/boot.rst of Linux). */
#include "v86/boot.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>

/* Places in the RAM, all below the kernel. */
enum {
    BOOT_COMMAND_LINE = 0x20000,
    BOOT_COMMAND_LINE_BYTES = 2048,
    BOOT_ZERO_PAGE = 0x90000,
    BOOT_STUB = 0xf0000,
    BOOT_STUB_32 = 0xf0040,
    BOOT_GDT = 0xf0100,
    BOOT_GDT_POINTER = 0xf0130,
    BOOT_RESET_VECTOR = 0xffff0,
    BOOT_LOW_END = 0x9fc00,
    BOOT_HIGH = 0x100000,
};

/* Of the zero page. */
enum {
    ZERO_E820_COUNT = 0x1e8,
    ZERO_BOOT_FLAG = 0x1fe,
    ZERO_MAGIC = 0x202,
    ZERO_VERSION = 0x206,
    ZERO_LOADER = 0x210,
    ZERO_FLAGS = 0x211,
    ZERO_INITRD = 0x218,
    ZERO_INITRD_BYTES = 0x21c,
    ZERO_COMMAND_LINE = 0x228,
    ZERO_E820 = 0x2d0,
    ZERO_BYTES = 4096,
};

enum { MBR_TABLE = 446, MBR_ENTRIES = 4, MBR_ENTRY_BYTES = 16 };
enum { PAGE_BYTES = 4096, ELF_SEGMENTS_MAX = 16 };

static void
boot_put32(uint8_t *p, uint32_t value)
{
    memcpy(p, &value, sizeof value);
}

/* Returns the byte offset of the partition, or 0. */
static uint64_t
boot_partition(const uint8_t *mbr)
{
    const uint8_t *entry = mbr + MBR_TABLE;
    uint32_t first;

    memcpy(&first, entry + 8, sizeof first);
    if (mbr[510] != 0x55 || mbr[511] != 0xaa || entry[4] != BOOT_PARTITION)
        return 0;
    return (uint64_t)first * DISK_SECTOR_BYTES;
}

int
boot_find(struct disk *d, struct boot_header *ret_header)
{
    uint8_t mbr[DISK_SECTOR_BYTES];
    struct boot_header h;

    int r = disk_read(d, 0, mbr, sizeof mbr);
    if (r < 0)
        return r;

    uint64_t base = boot_partition(mbr);
    if (!base)
        return -ENOENT;
    r = disk_read(d, base, &h, sizeof h);
    if (r < 0)
        return r == -ERANGE ? -ENOENT : r;
    if (memcmp(h.magic, BOOT_MAGIC, sizeof h.magic) != 0)
        return -ENOENT;
    h.kernel.offset += base;
    h.initrd.offset += base;
    h.command_line.offset += base;
    *ret_header = h;
    return 0;
}

/* Loads one segment. The RAM is zero already where the file has no bytes. */
static int
boot_load_segment(struct disk *d, const struct boot_part *kernel,
                  const struct bus *bus, const Elf32_Phdr *ph)
{
    uint8_t *to = bus_ram(bus, ph->p_paddr, ph->p_memsz);

    if (ph->p_filesz > ph->p_memsz || ph->p_paddr < BOOT_HIGH ||
        ph->p_offset > kernel->len || ph->p_filesz > kernel->len - ph->p_offset)
        return -ENOEXEC;
    if (!to)
        return -E2BIG;
    return disk_read(d, kernel->offset + ph->p_offset, to, ph->p_filesz);
}

static int
boot_load_kernel(struct disk *d, const struct boot_part *kernel,
                 const struct bus *bus, uint32_t *ret_entry, uint32_t *ret_end)
{
    Elf32_Ehdr eh;
    int r = disk_read(d, kernel->offset, &eh, sizeof eh);

    if (r < 0)
        return r;
    if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_machine != EM_386 ||
        eh.e_phentsize != sizeof(Elf32_Phdr) || eh.e_phnum > ELF_SEGMENTS_MAX)
        return -ENOEXEC;
    *ret_end = BOOT_HIGH;
    for (unsigned i = 0; i < eh.e_phnum; i++) {
        Elf32_Phdr ph;

        r = disk_read(d, kernel->offset + eh.e_phoff + i * sizeof ph, &ph,
                      sizeof ph);
        if (r == 0 && ph.p_type == PT_LOAD) {
            r = boot_load_segment(d, kernel, bus, &ph);
            if (ph.p_paddr + ph.p_memsz > *ret_end)
                *ret_end = ph.p_paddr + ph.p_memsz;
        }
        if (r < 0)
            return r;
    }
    *ret_entry = eh.e_entry;
    return 0;
}

/* Loads the initial file system to the end of the RAM. */
static int
boot_load_initrd(struct disk *d, const struct boot_part *initrd,
                 const struct bus *bus, uint32_t kernel_end, uint8_t *zero)
{
    uint32_t len = (uint32_t)initrd->len;

    if (initrd->len >= bus->ram_bytes - kernel_end)
        return -E2BIG;

    uint32_t at = (bus->ram_bytes - len) / PAGE_BYTES * PAGE_BYTES;
    if (at < kernel_end)
        return -E2BIG;
    boot_put32(zero + ZERO_INITRD, at);
    boot_put32(zero + ZERO_INITRD_BYTES, len);
    return disk_read(d, initrd->offset, bus->ram + at, len);
}

static int
boot_load_command_line(struct disk *d, const struct boot_part *line,
                       const struct bus *bus, const char *more)
{
    char *to = (char *)bus->ram + BOOT_COMMAND_LINE;

    if (line->len + strlen(more) + 2 > BOOT_COMMAND_LINE_BYTES ||
        line->len > BOOT_COMMAND_LINE_BYTES)
        return -ENOEXEC;

    int r = disk_read(d, line->offset, to, line->len);
    (void)sprintf(to + line->len, " %s", more);
    return r;
}

static void
boot_fill_zero_page(const struct bus *bus, uint8_t *zero)
{
    struct __attribute__((packed)) {
        uint64_t start, len;
        uint32_t type; /* 1: RAM */
    } map[] = {
        {0, BOOT_LOW_END, 1},
        {BOOT_HIGH, bus->ram_bytes - BOOT_HIGH, 1},
    };

    memset(zero, 0, ZERO_BYTES);
    zero[ZERO_E820_COUNT] = sizeof map / sizeof *map;
    memcpy(zero + ZERO_E820, map, sizeof map);
    boot_put32(zero + ZERO_BOOT_FLAG, 0xaa55);
    boot_put32(zero + ZERO_MAGIC, 0x53726448); /* HdrS */
    boot_put32(zero + ZERO_VERSION, 0x020c);
    zero[ZERO_LOADER] = 0xff;
    zero[ZERO_FLAGS] = 1; /* the kernel is above 1 MiB */
    boot_put32(zero + ZERO_COMMAND_LINE, BOOT_COMMAND_LINE);
}

/* The processor begins at the reset vector in real mode: it jumps to the stub,
 * which enters protected mode and jumps to the kernel. */
static void
boot_write_stub(const struct bus *bus, uint32_t entry)
{
    static const uint8_t reset[] = {0xea, 0, 0, 0, 0xf0}; /* jmp F000:0000 */
    static const uint8_t gdt[32] = {
        [16] = 0xff, 0xff, 0, 0, 0, 0x9b, 0xcf, 0, /* 0x10: code */
        [24] = 0xff, 0xff, 0, 0, 0, 0x93, 0xcf, 0, /* 0x18: data */
    };
    static const uint8_t gdt_pointer[] = {sizeof gdt - 1, 0,    0x00,
                                          0x01,           0x0f, 0x00};
    static const uint8_t stub[] = {
        0xfa,                                           /* cli */
        0x2e, 0x66, 0x0f, 0x01, 0x16, 0x30, 0x01,       /* lgdt cs:[0130] */
        0x0f, 0x20, 0xc0,                               /* mov eax, cr0 */
        0x0c, 0x01,                                     /* or al, 1 */
        0x0f, 0x22, 0xc0,                               /* mov cr0, eax */
        0x66, 0xea, 0x40, 0x00, 0x0f, 0x00, 0x10, 0x00, /* jmp 10:000f0040 */
    };
    static const uint8_t stub_32[] = {
        0x66, 0xb8, 0x18, 0x00,             /* mov ax, 0x18 */
        0x8e, 0xd8, 0x8e, 0xc0, 0x8e, 0xd0, /* mov ds, es, ss, ax */
        0x8e, 0xe0, 0x8e, 0xe8,             /* mov fs, gs, ax */
        0xbc, 0x00, 0x00, 0x09, 0x00,       /* mov esp, zero page */
        0xbe, 0x00, 0x00, 0x09, 0x00,       /* mov esi, zero page */
        0x31, 0xed, 0x31, 0xff, 0x31, 0xdb, /* xor ebp, edi, ebx */
        0xb8,                               /* mov eax, entry */
    };
    static const uint8_t stub_jump[] = {0xff, 0xe0}; /* jmp eax */
    uint8_t *ram = bus->ram;

    memcpy(ram + BOOT_RESET_VECTOR, reset, sizeof reset);
    memcpy(ram + BOOT_GDT, gdt, sizeof gdt);
    memcpy(ram + BOOT_GDT_POINTER, gdt_pointer, sizeof gdt_pointer);
    memcpy(ram + BOOT_STUB, stub, sizeof stub);
    memcpy(ram + BOOT_STUB_32, stub_32, sizeof stub_32);
    boot_put32(ram + BOOT_STUB_32 + sizeof stub_32, entry);
    memcpy(ram + BOOT_STUB_32 + sizeof stub_32 + 4, stub_jump,
           sizeof stub_jump);
}

int
boot_load(struct disk *d, const struct boot_header *h, const struct bus *bus,
          const char *more)
{
    uint8_t *zero = bus->ram + BOOT_ZERO_PAGE;
    uint32_t entry = 0, end = 0;

    if (bus->ram_bytes <= BOOT_HIGH)
        return -E2BIG;
    boot_fill_zero_page(bus, zero);

    int r = boot_load_kernel(d, &h->kernel, bus, &entry, &end);
    if (r == 0)
        r = boot_load_initrd(d, &h->initrd, bus, end, zero);
    if (r == 0)
        r = boot_load_command_line(d, &h->command_line, bus, more);
    if (r == 0)
        boot_write_stub(bus, entry);
    return r;
}

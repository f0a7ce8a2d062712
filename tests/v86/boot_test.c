#include "v86/boot.h"

#include "../unit/test.h"
#include "fake_bus.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* An image with the partition at sector 8: header, kernel, initrd, line. */
enum {
    PARTITION = 8 * 512,
    KERNEL = PARTITION + 4096,
    INITRD = KERNEL + 4096,
    LINE = INITRD + 4096,
    IMAGE_BYTES = LINE + 4096,
    RAM_BYTES = 4 << 20,
};

struct image {
    uint8_t bytes[IMAGE_BYTES];
};

static struct image *
image_new(void)
{
    struct image *i = calloc(1, sizeof *i);
    struct boot_header h = {.magic = BOOT_MAGIC,
                            .kernel = {4096, 4096},
                            .initrd = {8192, 5},
                            .command_line = {12288, 4}};
    Elf32_Ehdr eh = {.e_ident = ELFMAG,
                     .e_machine = EM_386,
                     .e_entry = 0x100010,
                     .e_phoff = sizeof eh,
                     .e_phentsize = sizeof(Elf32_Phdr),
                     .e_phnum = 1};
    Elf32_Phdr ph = {.p_type = PT_LOAD,
                     .p_offset = 256,
                     .p_paddr = 0x100000,
                     .p_filesz = 4,
                     .p_memsz = 8192};

    i->bytes[446 + 4] = BOOT_PARTITION;
    i->bytes[446 + 8] = PARTITION / 512;
    i->bytes[510] = 0x55;
    i->bytes[511] = 0xaa;
    memcpy(i->bytes + PARTITION, &h, sizeof h);
    memcpy(i->bytes + KERNEL, &eh, sizeof eh);
    memcpy(i->bytes + KERNEL + sizeof eh, &ph, sizeof ph);
    memcpy(i->bytes + KERNEL + 256, "code", 4);
    memcpy(i->bytes + INITRD, "files", 5);
    memcpy(i->bytes + LINE, "a=b ", 4);
    return i;
}

static int
image_boot(const struct image *i, const struct bus *bus)
{
    struct disk *d = NULL;
    struct boot_header h;
    int hfd = memfd_create("disk", MFD_CLOEXEC);

    CHECK_EQ(write(hfd, i->bytes, sizeof i->bytes), sizeof i->bytes);
    CHECK_EQ(disk_new(hfd, 0, &d), 0);
    int r = boot_find(d, &h);
    if (r == 0)
        r = boot_load(d, &h, bus, "c=d");
    disk_free(d);
    return r;
}

static uint32_t
get32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

TEST(boot_loads_kernel_files_and_command_line)
{
    struct image *i = image_new();
    struct bus bus = {.ram = calloc(1, RAM_BYTES), .ram_bytes = RAM_BYTES};
    const uint8_t *zero = bus.ram + 0x90000;

    CHECK_EQ(image_boot(i, &bus), 0);
    CHECK(!memcmp(bus.ram + 0x100000, "code", 4));
    CHECK(!memcmp(bus.ram + get32(zero + 0x218), "files", 5));
    CHECK_EQ(get32(zero + 0x21c), 5);
    CHECK(!strcmp((char *)bus.ram + get32(zero + 0x228), "a=b  c=d"));
    CHECK_EQ(zero[0x1e8], 2);
    CHECK_EQ(bus.ram[0xffff0], 0xea);
    free(bus.ram);
    free(i);
}

TEST(boot_recognises_other_images)
{
    struct image *i = image_new();
    struct bus bus = {.ram = calloc(1, RAM_BYTES), .ram_bytes = RAM_BYTES};

    i->bytes[PARTITION] = 'x';
    CHECK_EQ(image_boot(i, &bus), -ENOENT);
    i->bytes[446 + 4] = 0x83;
    CHECK_EQ(image_boot(i, &bus), -ENOENT);
    i->bytes[446 + 4] = BOOT_PARTITION;
    i->bytes[446 + 11] = 0xff; /* far outside */
    CHECK_EQ(image_boot(i, &bus), -ENOENT);
    free(bus.ram);
    free(i);
}

/* Every byte of header, ELF header and program header once with all bits
 * changed: an error or a boot, and nothing outside the memory. */
TEST(boot_survives_hostile_images)
{
    struct image *good = image_new(), *bad = malloc(sizeof *bad);
    struct bus bus = {.ram = calloc(1, RAM_BYTES), .ram_bytes = RAM_BYTES};

    for (unsigned k = 0; k < 64 + 128; k++) {
        *bad = *good;
        bad->bytes[k < 64 ? PARTITION + k : KERNEL + k - 64] ^= 0xff;
        int r = image_boot(bad, &bus);
        CHECK(r == 0 || r == -ENOENT || r == -ENOEXEC || r == -E2BIG ||
              r == -ERANGE);
    }
    free(bus.ram);
    free(bad);
    free(good);
}

TEST(boot_refuses_a_kernel_that_is_too_large_for_the_memory)
{
    struct image *i = image_new();
    struct bus bus = {.ram = calloc(1, RAM_BYTES), .ram_bytes = 1 << 20};

    CHECK_EQ(image_boot(i, &bus), -E2BIG);
    bus.ram_bytes = (1 << 20) + 4096;
    CHECK_EQ(image_boot(i, &bus), -E2BIG);
    bus.ram_bytes = (1 << 20) + 8192;
    CHECK_EQ(image_boot(i, &bus), -E2BIG);
    free(bus.ram);
    free(i);
}

/* Direct boot: loads a Linux kernel from a disk image of tools/v86-image, and
 * starts the processor in it, without firmware.
 *
 * The first partition of such an image has type 0xda and begins with a struct
 * boot_header. Everything in an image may be hostile. */
#ifndef V86_BOOT_H
#define V86_BOOT_H

#include "v86/bus.h"
#include "v86/disk.h"

#define BOOT_MAGIC "wasmsand-boot-1\n"

enum { BOOT_MAGIC_BYTES = 16, BOOT_PARTITION = 0xda };

/* A part of the partition; offset and length in bytes, little-endian. */
struct boot_part {
    uint64_t offset, len;
};

struct boot_header {
    char magic[BOOT_MAGIC_BYTES];
    struct boot_part kernel; /* an ELF file, uncompressed */
    struct boot_part initrd;
    struct boot_part command_line;
};

/* Finds the header, with offsets in bytes of the disk. Returns 0, -ENOENT for
 * another image, or the errors of disk_read. */
int boot_find(struct disk *d, struct boot_header *ret_header);
/* Loads the kernel into the RAM, with `more` added to its command line.
 * Returns 0, -ENOEXEC for a kernel that is not valid, -E2BIG if the RAM is too
 * small, or the errors of disk_read. */
int boot_load(struct disk *d, const struct boot_header *h,
              const struct bus *bus, const char *more);

#endif

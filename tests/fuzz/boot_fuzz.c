/* Hostile disk images: the input is an image. It is refused with an error, or
 * its kernel is loaded; nothing outside the RAM is touched. */
#include "v86/boot.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RAM_BYTES = 2 << 20, OVERLAY_BYTES = 1 << 16 };

static void
must(bool ok)
{
    if (!ok)
        abort();
}

static void
boot(struct disk *d)
{
    struct boot_header header;
    struct bus bus = {.ram = calloc(1, RAM_BYTES), .ram_bytes = RAM_BYTES};

    must(bus.ram);
    int r = boot_find(d, &header);
    must(r <= 0);
    if (r == 0)
        must(boot_load(d, &header, &bus, "more") <= 0);
    free(bus.ram);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int hfd = memfd_create("disk", MFD_CLOEXEC);
    struct disk *d = NULL;

    must(hfd >= 0);
    must(write(hfd, data, size) == (ssize_t)size);
    if (disk_new(hfd, OVERLAY_BYTES, &d) < 0)
        return 0;
    boot(d);
    disk_free(d);
    return 0;
}

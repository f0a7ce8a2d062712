/* The overlay is an anonymous mapping as large as the disk, of which the kernel
 * provides only the pages that were written, and a bitmap of these blocks. The
 * image is read with pread and not mapped: a file that is truncated meanwhile
 * is then an error of one request, and not a signal. */
#include "v86/disk.h"

#include "base/hfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const uint64_t DISK_BYTES_MAX = 1ull << 40;

struct disk {
    int hfd;
    uint64_t bytes; /* whole sectors */
    uint64_t n_changed, changed_max;
    uint8_t *overlay;
    uint64_t *is_changed, *is_dirty; /* a bit for each block */
};

uint64_t
disk_blocks(const struct disk *d)
{
    return (d->bytes + DISK_BLOCK_BYTES - 1) / DISK_BLOCK_BYTES;
}

static void *
disk_map(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static uint64_t
disk_bitmap_bytes(const struct disk *d)
{
    return (disk_blocks(d) + 63) / 64 * 8;
}

void
disk_free(struct disk *d)
{
    if (!d)
        return;
    if (d->overlay)
        (void)munmap(d->overlay, disk_blocks(d) * DISK_BLOCK_BYTES);
    if (d->is_changed)
        (void)munmap(d->is_changed, disk_bitmap_bytes(d));
    if (d->is_dirty)
        (void)munmap(d->is_dirty, disk_bitmap_bytes(d));
    hfd_closep(&d->hfd);
    free(d);
}

/* Returns the size in whole sectors, or -errno. */
static int64_t
disk_size_of(int hfd)
{
    struct stat st;

    if (fstat(hfd, &st) < 0)
        return -errno;

    uint64_t bytes =
        (uint64_t)st.st_size / DISK_SECTOR_BYTES * (uint64_t)DISK_SECTOR_BYTES;
    if (!S_ISREG(st.st_mode) || bytes == 0)
        return -EINVAL;
    return bytes > DISK_BYTES_MAX ? -EFBIG : (int64_t)bytes;
}

static int
disk_init(struct disk *d, uint64_t bytes, uint64_t overlay_max)
{
    d->bytes = bytes;
    d->changed_max = overlay_max / DISK_BLOCK_BYTES;
    d->overlay = disk_map(disk_blocks(d) * DISK_BLOCK_BYTES);
    d->is_changed = disk_map(disk_bitmap_bytes(d));
    d->is_dirty = disk_map(disk_bitmap_bytes(d));
    return d->overlay && d->is_changed && d->is_dirty ? 0 : -ENOMEM;
}

/* `bytes` is the size of the image, or -errno. */
static int
disk_make(OWN int hfd, int64_t bytes, uint64_t overlay_max,
          OWN struct disk **ret)
{
    struct disk *d = calloc(1, sizeof *d);

    if (!d) {
        hfd_closep(&hfd);
        return -ENOMEM;
    }
    d->hfd = hfd;

    int r = bytes < 0 ? (int)bytes : disk_init(d, (uint64_t)bytes, overlay_max);
    if (r < 0) {
        disk_free(d);
        return r;
    }
    *ret = d;
    return 0;
}

int
disk_new(OWN int hfd, uint64_t overlay_max, OWN struct disk **ret)
{
    return disk_make(hfd, disk_size_of(hfd), overlay_max, ret);
}

/* A sealed process may not ask for the size again. */
int
disk_new_like(const struct disk *d, uint64_t overlay_max, OWN struct disk **ret)
{
    int hfd = fcntl(d->hfd, F_DUPFD_CLOEXEC, 0);

    return hfd < 0 ? -errno
                   : disk_make(hfd, (int64_t)d->bytes, overlay_max, ret);
}

int
disk_hfd(const struct disk *d)
{
    return d->hfd;
}

uint64_t
disk_sectors(const struct disk *d)
{
    return d->bytes / DISK_SECTOR_BYTES;
}

uint64_t
disk_overlay_bytes(const struct disk *d)
{
    return d->n_changed * DISK_BLOCK_BYTES;
}

uint64_t
disk_free_bytes(const struct disk *d)
{
    return (d->changed_max - d->n_changed) * DISK_BLOCK_BYTES;
}

static bool
disk_is_changed(const struct disk *d, uint64_t block)
{
    return d->is_changed[block / 64] >> block % 64 & 1;
}

static void
disk_set_dirty(struct disk *d, uint64_t block)
{
    d->is_dirty[block / 64] |= 1ull << block % 64;
}

/* Reads the image. Returns 0 or -errno. */
static int
disk_read_image(const struct disk *d, uint64_t at, uint8_t *p, size_t len)
{
    while (len) {
        ssize_t n = pread(d->hfd, p, len, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        p += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return 0;
}

/* Copies the block into the overlay, so that a part of it can be changed. The
 * last block of a disk may be shorter than the others. */
static int
disk_change(struct disk *d, uint64_t block, bool is_whole)
{
    uint64_t at = block * DISK_BLOCK_BYTES;
    uint64_t len = d->bytes - at;

    if (disk_is_changed(d, block))
        return 0;
    if (d->n_changed == d->changed_max)
        return -ENOSPC;
    if (!is_whole) {
        int r = disk_read_image(d, at, d->overlay + at,
                                len < DISK_BLOCK_BYTES ? (size_t)len
                                                       : DISK_BLOCK_BYTES);
        if (r < 0)
            return r;
    }
    d->is_changed[block / 64] |= 1ull << block % 64;
    d->n_changed++;
    return 0;
}

/* Returns the number of bytes from `at` that are in the same state, whole
 * blocks but for the first and the last. */
static size_t
disk_run(const struct disk *d, uint64_t at, size_t len)
{
    uint64_t block = at / DISK_BLOCK_BYTES;
    bool is_changed = disk_is_changed(d, block);
    uint64_t end = at + len, next = (block + 1) * DISK_BLOCK_BYTES;

    while (next < end &&
           disk_is_changed(d, next / DISK_BLOCK_BYTES) == is_changed)
        next += DISK_BLOCK_BYTES;
    return (size_t)((next < end ? next : end) - at);
}

static bool
disk_has(const struct disk *d, uint64_t at, size_t len)
{
    return at <= d->bytes && len <= d->bytes - at;
}

int
disk_read(struct disk *d, uint64_t at, void *p, size_t len)
{
    uint8_t *to = p;

    if (!disk_has(d, at, len))
        return -ERANGE;
    while (len) {
        size_t n = disk_run(d, at, len);
        int r = 0;

        if (disk_is_changed(d, at / DISK_BLOCK_BYTES))
            memcpy(to, d->overlay + at, n);
        else
            r = disk_read_image(d, at, to, n);
        if (r < 0)
            return r;
        to += n;
        at += n;
        len -= n;
    }
    return 0;
}

int
disk_write(struct disk *d, uint64_t at, const void *p, size_t len)
{
    const uint8_t *from = p;

    if (!disk_has(d, at, len))
        return -ERANGE;
    while (len) {
        uint64_t left = DISK_BLOCK_BYTES - at % DISK_BLOCK_BYTES;
        size_t n = len < left ? len : (size_t)left;
        int r = disk_change(d, at / DISK_BLOCK_BYTES, n == DISK_BLOCK_BYTES);

        if (r < 0)
            return r;
        memcpy(d->overlay + at, from, n);
        disk_set_dirty(d, at / DISK_BLOCK_BYTES);
        from += n;
        at += n;
        len -= n;
    }
    return 0;
}

/* The memory of the block is returned to the host. */
static void
disk_drop(struct disk *d, uint64_t block)
{
    if (!disk_is_changed(d, block))
        return;
    (void)madvise(d->overlay + block * DISK_BLOCK_BYTES, DISK_BLOCK_BYTES,
                  MADV_DONTNEED);
    d->is_changed[block / 64] &= ~(1ull << block % 64);
    d->n_changed--;
    disk_set_dirty(d, block);
}

int
disk_discard(struct disk *d, uint64_t at, uint64_t len)
{
    if (at > d->bytes || len > d->bytes - at)
        return -ERANGE;

    bool is_last = at + len == d->bytes; /* its block may be shorter */
    uint64_t end = is_last ? disk_blocks(d) : (at + len) / DISK_BLOCK_BYTES;
    for (uint64_t block = (at + DISK_BLOCK_BYTES - 1) / DISK_BLOCK_BYTES;
         block < end; block++)
        disk_drop(d, block);
    return 0;
}

void
disk_clean(struct disk *d)
{
    memset(d->is_dirty, 0, disk_bitmap_bytes(d));
}

bool
disk_take_dirty(struct disk *d, uint64_t from, bool all, uint64_t *ret_block,
                const uint8_t **ret_bytes)
{
    uint64_t mask = UINT64_MAX << from % 64;

    for (uint64_t i = from / 64; i < disk_bitmap_bytes(d) / 8; i++) {
        uint64_t dirty = (all ? d->is_changed : d->is_dirty)[i] & mask;

        mask = UINT64_MAX;
        if (!dirty)
            continue;
        uint64_t block = i * 64 + (unsigned)__builtin_ctzll(dirty);
        if (!all)
            d->is_dirty[i] &= ~(1ull << block % 64);
        *ret_block = block;
        *ret_bytes = disk_is_changed(d, block)
                         ? d->overlay + block * DISK_BLOCK_BYTES
                         : NULL;
        return true;
    }
    return false;
}

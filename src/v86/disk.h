/* The disk: an image file that is never written, and an overlay in memory with
 * the blocks that were changed. After fork, the child has a copy-on-write copy
 * of the overlay.
 *
 * A block is dirty from a change until disk_take_dirty. The owner of durable
 * state therefore copies only blocks that have changed since its last copy. */
#ifndef V86_DISK_H
#define V86_DISK_H

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DISK_SECTOR_BYTES = 512, DISK_BLOCK_BYTES = 4096 };

struct disk;

/* Takes the descriptor of an image. `overlay_max` is the maximum size of the
 * overlay in bytes. Returns 0, -EINVAL for an image without a sector, -EFBIG
 * for one above 1 TiB, or another -errno. */
int disk_new(OWN int hfd, uint64_t overlay_max, OWN struct disk **ret);
void disk_free(struct disk *d);

uint64_t disk_sectors(const struct disk *d);
/* Returns the descriptor of the image, which the disk owns. */
int disk_hfd(const struct disk *d);
/* Returns the bytes of changed blocks, and those of blocks that may still be
 * changed. */
uint64_t disk_overlay_bytes(const struct disk *d);
uint64_t disk_free_bytes(const struct disk *d);

/* Copy `len` bytes from or to the byte offset `at`. Return 0, -ERANGE beyond
 * the end, -EIO if the image has become shorter, -ENOSPC if the overlay is
 * full (some bytes may have been written then), or another -errno. */
int disk_read(struct disk *d, uint64_t at, void *p, size_t len);
int disk_write(struct disk *d, uint64_t at, const void *p, size_t len);
/* Drops the changes of the whole blocks in a range: they have the contents of
 * the image again. Returns 0, or -ERANGE beyond the end. */
int disk_discard(struct disk *d, uint64_t at, uint64_t len);

/* Makes all blocks clean. */
void disk_clean(struct disk *d);
/* Returns the number of blocks, of which the last may be shorter. */
uint64_t disk_blocks(const struct disk *d);
/* Makes another disk of the same image, without changes. Returns 0 or
 * -errno. */
int disk_new_like(const struct disk *d, uint64_t overlay_max,
                  OWN struct disk **ret);
/* Finds the first dirty block from number `from` on, and makes it clean. With
 * `all`, finds the first changed block, and changes nothing. Returns false if
 * there is none;
 * else its number, and its bytes until the next change, or NULL if the block
 * has the contents of the image. The last block may be partly beyond the end of
 * the disk; its bytes are zeros there. */
bool disk_take_dirty(struct disk *d, uint64_t from, bool all,
                     uint64_t *ret_block, const uint8_t **ret_bytes);

#endif

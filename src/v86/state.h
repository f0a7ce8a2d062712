/* The durable state of a machine: the changed blocks of its disk, as records of
 * record/record.h. They are the blocks of one file, so that the store keeps,
 * checks and forks such a state like any other.
 *
 * A stream of records has commits, each with an end frame. The same form is
 * used for sessions, for the file of --disk-overlay, and for exports. */
#ifndef V86_STATE_H
#define V86_STATE_H

#include "base/buf.h"
#include "v86/disk.h"

/* Writes the records that each state begins with; `disk_bytes` belongs to the
 * image, and is checked by v86_state_apply. */
void v86_state_put_head(struct buf *b, uint64_t disk_bytes);
/* Writes one block; NULL: it has the contents of the image again. */
void v86_state_put_block(struct buf *b, uint64_t block,
                         const uint8_t bytes[DISK_BLOCK_BYTES]);
/* Writes the end of a commit. */
void v86_state_put_end(struct buf *b, uint64_t number);

/* One frame of a stream. */
struct v86_frame {
    bool is_end;
    uint64_t number; /* of the end */
    const uint8_t *key, *value;
    size_t key_len, value_len;
    bool is_removed;
};

/* Reads the frame at the beginning of `len` bytes. Returns its length, 0 if the
 * bytes do not have all of it, or -EINVAL. */
int64_t v86_state_next(const uint8_t *p, size_t len, struct v86_frame *ret);
/* Changes the disk as a frame says. Returns 0, -EINVAL for a state that is
 * damaged or belongs to another image, or the errors of disk_write. */
int v86_state_apply(struct disk *d, const struct v86_frame *f);
/* Applies all frames of a descriptor: up to the first end if `one_commit`, else
 * up to the end of the file, where a commit without its end is ignored. Returns
 * the number of bytes of whole commits, or -errno; -ECANCELED: the sender has
 * broken off. *ret_any tells whether there was a record. */
int64_t v86_state_read(struct disk *d, int hfd, bool one_commit, bool *ret_any);

#endif

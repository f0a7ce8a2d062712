#include "v86/state.h"

#include "base/own.h"
#include "record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file whose blocks are those of the disk. */
enum { STATE_FOLDER = 1, STATE_FILE = 2, STATE_READ_BYTES = 256 << 10 };

#define STATE_NAME "disk"

static void
state_put(struct buf *b, enum record_op op, const void *key, size_t key_len,
          const void *value, size_t len)
{
    struct record_head h = {op, (uint16_t)key_len, (uint32_t)len};
    uint8_t head[RECORD_HEAD_BYTES];

    record_head_put(&h, head);
    buf_add(b, head, sizeof head);
    buf_add(b, key, key_len);
    buf_add(b, value, len);
}

static void
state_put_record(struct buf *b, const struct record_key *k, const void *value,
                 size_t len)
{
    uint8_t key[RECORD_KEY_MAX];
    size_t key_len = record_key_put(k, key);

    state_put(b, value ? RECORD_PUT : RECORD_DELETE, key, key_len, value, len);
}

void
v86_state_put_head(struct buf *b, uint64_t disk_bytes)
{
    static const uint8_t version[] = {0, 0, 0, RECORD_VERSION};
    const struct record_key fact = record_fact_key(FACT_version);
    const struct record_key file = {.type = RECORD_INODE, .inode = STATE_FILE};
    const struct record_key name = {.type = RECORD_NAME,
                                    .inode = STATE_FOLDER,
                                    .name = STATE_NAME,
                                    .name_len = strlen(STATE_NAME)};
    uint8_t value[RECORD_FIXED_MAX];

    state_put_record(b, &fact, version, sizeof version);
    size_t len = record_inode_put(
        &(struct record_inode){.mode = S_IFREG | 0600, .size = disk_bytes},
        value);
    state_put_record(b, &file, value, len);
    len = record_name_put(&(struct record_name){.inode = STATE_FILE, .seq = 1},
                          value);
    state_put_record(b, &name, value, len);
}

/* Zeros at the end of a block are not stored. */
void
v86_state_put_block(struct buf *b, uint64_t block,
                    const uint8_t bytes[DISK_BLOCK_BYTES])
{
    const struct record_key k = {
        .type = RECORD_BLOCK, .inode = STATE_FILE, .index = block};
    size_t len = bytes ? DISK_BLOCK_BYTES : 0;

    while (len && !bytes[len - 1])
        len--;
    state_put_record(b, &k, bytes, len);
}

void
v86_state_put_end(struct buf *b, uint64_t number)
{
    uint8_t value[RECORD_END_BYTES];

    record_end_put(number, value);
    state_put(b, RECORD_END, "", 0, value, sizeof value);
}

/* --- reading */

int64_t
v86_state_next(const uint8_t *p, size_t len, struct v86_frame *ret)
{
    struct record_head h;

    if (len < RECORD_HEAD_BYTES)
        return 0;
    if (record_head_get(p, &h) < 0)
        return -EINVAL;

    size_t bytes = RECORD_HEAD_BYTES + h.key_len + (size_t)h.value_len;
    if (len < bytes)
        return 0;
    *ret = (struct v86_frame){.key = p + RECORD_HEAD_BYTES,
                              .key_len = h.key_len,
                              .value = p + RECORD_HEAD_BYTES + h.key_len,
                              .value_len = h.value_len,
                              .is_removed = h.op == RECORD_DELETE,
                              .is_end = h.op == RECORD_END};
    if (ret->is_end)
        ret->number = record_end_get(ret->value);
    return (int64_t)bytes;
}

/* The last block of the disk may be shorter than the others. */
static int
state_apply_block(struct disk *d, uint64_t block, const struct v86_frame *f)
{
    static const uint8_t zeros[DISK_BLOCK_BYTES];
    uint64_t size = disk_sectors(d) * DISK_SECTOR_BYTES;
    uint64_t at = block * DISK_BLOCK_BYTES;

    if (block >= disk_blocks(d))
        return -EINVAL;

    size_t len = size - at < sizeof zeros ? (size_t)(size - at) : sizeof zeros;
    if (f->value_len > len)
        return -EINVAL;
    if (f->is_removed)
        return disk_discard(d, at, len);
    int r = disk_write(d, at, zeros, len);
    return r < 0 ? r : disk_write(d, at, f->value, f->value_len);
}

int
v86_state_apply(struct disk *d, const struct v86_frame *f)
{
    struct record_inode i;
    struct record_key k;

    if (f->is_end)
        return 0;
    if (record_check(f->key, f->key_len, f->is_removed ? NULL : f->value,
                     f->value_len) < 0 ||
        record_key_get(f->key, f->key_len, &k) < 0)
        return -EINVAL;
    if (k.type == RECORD_BLOCK)
        return state_apply_block(d, k.index, f);
    if (k.type != RECORD_INODE || f->is_removed)
        return 0;
    if (record_inode_get(f->value, f->value_len, &i) < 0)
        return -EINVAL;
    return i.size == disk_sectors(d) * DISK_SECTOR_BYTES ? 0 : -EINVAL;
}

/* The bytes of a stream that were read and not used yet. */
struct state_input {
    uint8_t *p;
    size_t at, len, cap;
};

/* Reads more bytes; a frame that does not fit makes the buffer larger. Returns
 * the number of bytes, 0 at the end, or -errno. */
static ssize_t
state_fill(struct state_input *in, int hfd)
{
    in->len -= in->at;
    memmove(in->p, in->p + in->at, in->len);
    in->at = 0;
    if (in->len == in->cap) {
        uint8_t *p = realloc(in->p, 2 * in->cap);

        if (!p)
            return -ENOMEM;
        in->p = p;
        in->cap *= 2;
    }

    ssize_t n;
    do
        n = read(hfd, in->p + in->len, in->cap - in->len);
    while (n < 0 && errno == EINTR);
    in->len += n > 0 ? (size_t)n : 0;
    return n < 0 ? -errno : n;
}

/* Handles the frames that are complete. Returns 1 after an end. */
static int
state_apply_all(struct disk *d, struct state_input *in, bool one_commit,
                int64_t *whole, int64_t *total, bool *ret_any)
{
    struct v86_frame f;
    int64_t n;

    while ((n = v86_state_next(in->p + in->at, in->len - in->at, &f)) > 0) {
        int r = d ? v86_state_apply(d, &f) : 0;

        if (r < 0)
            return r;
        in->at += (size_t)n;
        *total += n;
        *ret_any |= !f.is_end;
        if (!f.is_end)
            continue;
        *whole = *total;
        if (one_commit)
            return f.number == RECORD_BROKEN_OFF ? -ECANCELED : 1;
    }
    return (int)n;
}

int64_t
v86_state_read(struct disk *d, int hfd, bool one_commit, bool *ret_any)
{
    struct state_input in = {.cap = STATE_READ_BYTES,
                             .p = malloc(STATE_READ_BYTES)};
    int64_t whole = 0, total = 0;
    ssize_t n = 1;
    int r = in.p ? 0 : -ENOMEM;

    *ret_any = false;
    while (r == 0 && n > 0) {
        n = state_fill(&in, hfd);
        r = n < 0
                ? (int)n
                : state_apply_all(d, &in, one_commit, &whole, &total, ret_any);
    }
    if (r == 0 && one_commit)
        r = -EIO; /* the stream ends early */
    free(in.p);
    return r < 0 ? r : whole;
}

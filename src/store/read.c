/* Reads all records of a session as the frames for its next worker, in steps of
 * a bounded size. The position between two steps is a key, so no statement of
 * SQLite stays open and commits of other sessions can run in between. */
#include "base/buf.h"
#include "store/walk.h"

#include <errno.h>
#include <string.h>

static void
read_add_frame(struct buf *b, enum record_op op, const void *key,
               size_t key_len, const void *value, size_t len)
{
    struct record_head h = {op, (uint16_t)key_len, (uint32_t)len};
    uint8_t head[RECORD_HEAD_BYTES];

    record_head_put(&h, head);
    buf_add(b, head, sizeof head);
    buf_add(b, key, key_len);
    buf_add(b, value, len);
}

/* Appends the record at which the walk stands. Small values are in the record
 * itself, and larger ones in chunks, whose hash chunk_get verifies. */
static int
read_add_record(struct record_walk *w, struct buf *b)
{
    SQL *st = NULL;
    const void *p = w->value;
    size_t len = w->len;

    if (w->is_damaged)
        return -EBADMSG;
    if (w->chunk) {
        int r = chunk_get(w->s, w->chunk, &st, &p, &len);
        if (r < 0)
            return r;
    }
    read_add_frame(b, RECORD_PUT, w->key, w->key_len, p, len);
    return b->error;
}

/* Adds records until there are `max` bytes. The digest of the records is summed
 * up on the way, for the check after the last one. */
static int
read_add_some(struct record_walk *w, size_t max, struct store_cursor *cursor,
              struct buf *b)
{
    uint8_t end[RECORD_END_BYTES];
    size_t start = b->len;
    int r;

    while ((r = walk_next(w)) > 0) {
        if (w->key_len > sizeof cursor->key)
            return -EBADMSG;
        r = read_add_record(w, b);
        if (r < 0)
            return r;
        cursor->digest += layer_digest_of(w->key, w->key_len, w->len, w->sum);
        memcpy(cursor->key, w->key, w->key_len);
        cursor->len = w->key_len;
        if (b->len - start >= max)
            return 0;
    }
    if (r < 0)
        return r;
    record_end_put(0, end);
    read_add_frame(b, RECORD_END, NULL, 0, end, sizeof end);
    cursor->is_done = true;
    return b->error;
}

/* Every record has matched its own checksum. The digest shows whether these are
 * all records of the last commit, and no others. */
static int
read_check_digest(struct store *s, const char *session, int64_t layer,
                  uint64_t digest)
{
    struct layer l;

    int r = layer_get(s, layer, &l);
    if (r < 0 || l.digest == digest)
        return r;
    return store_fail(s, -EBADMSG,
                      "session %s: some of its records are missing, or from "
                      "another commit; see session fsck --repair",
                      session);
}

int
store_read(struct store *s, const char *session, size_t max,
           struct store_cursor *cursor, struct buf *frames)
{
    CLEANUP(layer_chain_fini) struct chain c = {0};
    CLEANUP(walk_fini) struct record_walk w = {0};
    struct session_row f;

    int r = session_row_find(s, session, &f);
    if (r == 0)
        r = layer_chain_init(s, f.layer, &c);
    if (r == 0)
        r = walk_init(&w, s, &c, cursor->key, cursor->len);
    if (r != 0)
        return r;
    r = read_add_some(&w, max, cursor, frames);
    if (r == -EBADMSG && w.key)
        return walk_blame(s, &c, session, w.key, w.key_len);
    if (r == 0 && cursor->is_done)
        r = read_check_digest(s, session, f.layer, cursor->digest);
    return frames->error ? store_fail(s, frames->error, "no memory") : r;
}

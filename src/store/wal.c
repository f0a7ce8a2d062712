/* The write-ahead log of SQLite, read without SQLite. wal.h explains why a
 * frame after damage can be recognised as good. */
#include "store/wal.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION = 3007000 };
/* The last bit says in which byte order the words of checksums are read: that
 * of the host which wrote the log. */
#define MAGIC (0x377f0682u | (__BYTE_ORDER == __BIG_ENDIAN))

/* The running checksum of SQLite's log: two words that each depend on all bytes
 * so far. */
struct sums {
    uint32_t a, b;
};

struct log_frame {
    uint8_t head[WAL_FRAME_HEADER_BYTES], page[WAL_PAGE_BYTES];
};

static uint32_t
wal_get(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return be32toh(v);
}

static void
wal_put(uint8_t *p, uint32_t v)
{
    v = htobe32(v);
    memcpy(p, &v, sizeof v);
}

static struct sums
wal_get_sums(const uint8_t *p)
{
    return (struct sums){wal_get(p), wal_get(p + 4)};
}

static void
wal_put_sums(uint8_t *p, struct sums s)
{
    wal_put(p, s.a);
    wal_put(p + 4, s.b);
}

static bool
wal_is_equal(struct sums a, struct sums b)
{
    return a.a == b.a && a.b == b.b;
}

static struct sums
wal_add(struct sums s, const uint8_t *p, size_t len)
{
    uint32_t word[2];

    for (; len; p += sizeof word, len -= sizeof word) {
        memcpy(word, p, sizeof word);
        s.a += word[0] + s.b;
        s.b += word[1] + s.a;
    }
    return s;
}

static struct sums
wal_header_sums(const uint8_t *h)
{
    return wal_add((struct sums){0, 0}, h, 24);
}

static struct sums
frame_sums(struct sums before, const struct log_frame *f)
{
    return wal_add(wal_add(before, f->head, 8), f->page, sizeof f->page);
}

static bool
wal_is_header(const uint8_t *h)
{
    return wal_get(h) == MAGIC && wal_get(h + 4) == VERSION &&
           wal_get(h + 8) == WAL_PAGE_BYTES &&
           wal_is_equal(wal_header_sums(h), wal_get_sums(h + 24));
}

/* Returns 1 if all bytes were read, and 0 at the end of the file. */
static int
wal_read_at(sqlite3_file *f, void *p, size_t len, int64_t at)
{
    int code = f->pMethods->xRead(f, p, (int)len, at);

    return code == SQLITE_OK ? 1 : code == SQLITE_IOERR_SHORT_READ ? 0 : -EIO;
}

int
wal_salts(sqlite3_file *f, uint64_t *ret)
{
    uint8_t h[WAL_HEADER_BYTES];

    if (wal_read_at(f, h, sizeof h, 0) <= 0 || !wal_is_header(h))
        return 0;
    memcpy(ret, h + 16, sizeof *ret);
    return 1;
}

/* --- which frames are good */

/* The two checksums that the next frame may continue from: the stored one, and
 * the computed one in case the stored checksum itself is the damaged part. */
struct wal_link {
    struct sums stored, computed;
    bool is_good;
};

static bool
wal_follows(const struct wal_link *before, const struct log_frame *f,
            bool *ret_computed)
{
    struct sums stored = wal_get_sums(f->head + 16);

    *ret_computed = false;
    if (wal_is_equal(frame_sums(before->stored, f), stored))
        return true;
    *ret_computed = wal_is_equal(frame_sums(before->computed, f), stored);
    return *ret_computed;
}

/* Frames of an earlier log may follow in the file. They continue from each
 * other, but not from a frame of this log, and have other salts. A good frame
 * after a damaged one must therefore have the salts of this log. */
static bool
wal_is_good(const struct wal_link *before, const struct log_frame *f,
            const uint8_t *salts, bool *ret_computed)
{
    bool is_ours = before->is_good || !memcmp(f->head + 8, salts, 8);

    return wal_follows(before, f, ret_computed) && is_ours;
}

static void
wal_advance(struct wal_link *l, const struct log_frame *f, bool good)
{
    struct sums stored = wal_get_sums(f->head + 16);

    *l = (struct wal_link){.stored = stored,
                           .computed = good ? stored : frame_sums(l->stored, f),
                           .is_good = good};
}

/* Finds the salts of the log. If the header is damaged, the salts that the
 * first two frames agree on are used. */
static int
wal_find_salts(sqlite3_file *f, const uint8_t *h, uint8_t *ret)
{
    uint8_t one[8], two[8];

    memcpy(ret, h + 16, 8);
    if (wal_is_header(h))
        return 0;
    int r = wal_read_at(f, one, 8, WAL_HEADER_BYTES + 8);
    if (r > 0)
        r = wal_read_at(f, two, 8, WAL_HEADER_BYTES + WAL_FRAME_BYTES + 8);
    if (r > 0 && !memcmp(one, two, 8))
        memcpy(ret, one, 8);
    return r < 0 ? r : 0;
}

/* One pass over the file. A transaction counts only with its last frame, which
 * has the size of the database in its header; `n` and `n_prefix` therefore
 * advance only there. */
static int
wal_scan_frames(sqlite3_file *f, struct wal *w, uint32_t n_max,
                struct log_frame *frame)
{
    uint8_t h[WAL_HEADER_BYTES], salts[8];
    bool is_sound, by_computed;

    int r = wal_read_at(f, h, sizeof h, 0);
    if (r > 0)
        r = wal_find_salts(f, h, salts);
    if (r < 0)
        return r;
    is_sound = wal_is_header(h);
    struct wal_link l = {wal_get_sums(h + 24), wal_header_sums(h), true};
    for (uint32_t i = 0; i < n_max; i++) {
        r = wal_read_at(f, frame, sizeof *frame,
                        WAL_HEADER_BYTES + (int64_t)i * WAL_FRAME_BYTES);
        if (r <= 0)
            return r;
        bool good = wal_is_good(&l, frame, salts, &by_computed);
        if (good && by_computed && i) /* the stored checksum was damaged */
            w->frames[i - 1] = WAL_GOOD;
        is_sound &= good && !by_computed && !memcmp(frame->head + 8, salts, 8);
        w->frames[i] = good ? WAL_GOOD : WAL_BAD;
        if (good && wal_get(frame->head + 4))
            w->n = i + 1;
        if (is_sound && wal_get(frame->head + 4))
            w->n_prefix = i + 1;
        wal_advance(&l, frame, good);
    }
    return 0;
}

int
wal_scan(sqlite3_file *f, struct wal *ret)
{
    sqlite3_int64 size = 0;

    *ret = (struct wal){0};
    if (f->pMethods->xFileSize(f, &size))
        return -EIO;
    if (size < WAL_HEADER_BYTES + WAL_FRAME_BYTES)
        return 0;
    uint32_t n_max = (uint32_t)((size - WAL_HEADER_BYTES) / WAL_FRAME_BYTES);
    struct log_frame *frame = malloc(sizeof *frame);
    ret->frames = calloc(n_max, 1);
    int r =
        frame && ret->frames ? wal_scan_frames(f, ret, n_max, frame) : -ENOMEM;
    free(frame);
    if (r < 0)
        wal_fini(ret);
    return r;
}

void
wal_fini(struct wal *w)
{
    free(w->frames);
    *w = (struct wal){0};
}

/* --- a log of the good ones */

/* Writes a log of the good frames with salts and checksums of its own, so that
 * SQLite accepts it as an ordinary log. */
static int
wal_write_frames(sqlite3_file *f, const struct wal *w, int hfd,
                 struct log_frame *frame)
{
    static const uint8_t salts[8] = "wasmsand";
    uint8_t h[WAL_HEADER_BYTES] = {0};

    wal_put(h, MAGIC);
    wal_put(h + 4, VERSION);
    wal_put(h + 8, WAL_PAGE_BYTES);
    memcpy(h + 16, salts, sizeof salts);
    struct sums sums = wal_header_sums(h);
    wal_put_sums(h + 24, sums);
    if (write(hfd, h, sizeof h) != (ssize_t)sizeof h)
        return -errno;
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->frames[i] != WAL_GOOD)
            continue;
        if (wal_read_at(f, frame, sizeof *frame,
                        WAL_HEADER_BYTES + (int64_t)i * WAL_FRAME_BYTES) <= 0)
            return -EIO;
        memcpy(frame->head + 8, salts, sizeof salts);
        sums = frame_sums(sums, frame);
        wal_put_sums(frame->head + 16, sums);
        errno = ENOSPC;
        if (write(hfd, frame, sizeof *frame) != (ssize_t)sizeof *frame)
            return -errno;
    }
    return fsync(hfd) ? -errno : 0;
}

int
wal_write_good(sqlite3_file *f, const struct wal *w, int hfd)
{
    struct log_frame *frame = malloc(sizeof *frame);
    int r = frame ? wal_write_frames(f, w, hfd, frame) : -ENOMEM;

    free(frame);
    return r;
}

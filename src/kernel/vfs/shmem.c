/* Memory that processes share: see shmem.h.
 *
 * Problem: a process changes a mapped page without a call, so nothing says
 * which pages the file does not have yet.
 *
 * Idea: the pages are compared with the file, page by page, when it matters.
 * This costs no fault and no bookkeeping while programs run, and a comparison
 * is as fast as reading memory. It is right because the processes of a sandbox
 * do not run while its kernel does: a page cannot change between its comparison
 * and its copy. */
#include "kernel/vfs/shmem.h"

#include "kernel/vfs/file.h"

#include <fcntl.h>
#include <string.h>

/* While s is synced, its file system must show the file alone. */
struct shmem *
shmem_find(const struct fs *fs, uint64_t ino)
{
    if (!fs->vfs)
        return NULL;
    LIST_FOR_EACH(it, &fs->vfs->shmems) {
        struct shmem *s = CONTAINER_OF(it, struct shmem, link);
        if (s->fs == fs && s->ino == ino)
            return s == fs->vfs->syncing ? NULL : s;
    }
    return NULL;
}

const struct shmem_part *
shmem_next_part(const struct shmem *s, uint64_t at)
{
    size_t from = 0, to = s->n_parts;

    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (s->parts[mid].at + s->parts[mid].len <= at)
            from = mid + 1;
        else
            to = mid;
    }
    return from < s->n_parts ? &s->parts[from] : NULL;
}

/* A piece of memory that has a range of the file. */
struct shmem_piece {
    uint64_t at, len;
    uint8_t *bytes;
};

/* Finds the first piece in [at, end). */
static bool
shmem_next_piece(const struct shmem *s, uint64_t at, uint64_t end,
                 struct shmem_piece *ret)
{
    const struct shmem_part *p = shmem_next_part(s, at);

    if (at >= end || !p || p->at >= end)
        return false;
    uint64_t from = p->at > at ? p->at : at;
    uint64_t to = p->at + p->len < end ? p->at + p->len : end;
    *ret = (struct shmem_piece){from, to - from, p->bytes + (from - p->at)};
    return true;
}

void
shmem_read(const struct shmem *s, uint64_t at, void *buf, uint64_t len)
{
    struct shmem_piece p = {.at = at};

    while (s && shmem_next_piece(s, p.at + p.len, at + len, &p))
        memcpy((uint8_t *)buf + (p.at - at), p.bytes, p.len);
}

void
shmem_write(struct shmem *s, uint64_t at, const void *buf, uint64_t len)
{
    struct shmem_piece p = {.at = at};

    while (s && shmem_next_piece(s, p.at + p.len, at + len, &p)) {
        if (buf)
            memcpy(p.bytes, (const uint8_t *)buf + (p.at - at), p.len);
        else
            memset(p.bytes, 0, p.len);
    }
}

static int
shmem_write_file(struct file *f, uint64_t at, const uint8_t *bytes, size_t len)
{
    for (uint64_t end = at + len; at < end;) {
        int64_t n = f->ops->write(f, NULL, bytes, (size_t)(end - at), &at);
        if (n < 0)
            return (int)n;
        bytes += n;
    }
    return 0;
}

/* Compares at most a page with the file, in steps that fit on the stack. */
static int
shmem_sync_page(struct file *f, uint64_t at, const uint8_t *bytes, size_t len)
{
    uint8_t old[SHMEM_PAGE_BYTES / 4];

    for (size_t done = 0; done < len;) {
        size_t n = len - done < sizeof old ? len - done : sizeof old;
        uint64_t pos = at + done;
        int64_t r = f->ops->read(f, NULL, old, n, &pos);
        if (r <= 0)
            return (int)r; /* 0: beyond the end */
        n = (size_t)r;
        int e = memcmp(old, bytes + done, n) == 0
                    ? 0
                    : shmem_write_file(f, at + done, bytes + done, n);
        if (e < 0)
            return e;
        done += n;
    }
    return 0;
}

static int
shmem_sync_piece(struct file *f, const struct shmem_piece *p)
{
    int r = 0;

    for (uint64_t done = 0; done < p->len; done += SHMEM_PAGE_BYTES) {
        uint64_t left = p->len - done;
        size_t n = left < SHMEM_PAGE_BYTES ? (size_t)left : SHMEM_PAGE_BYTES;
        int e = shmem_sync_page(f, p->at + done, p->bytes + done, n);
        r = r ? r : e;
    }
    return r;
}

/* O_APPEND holds for calls that write, not for mappings. */
int
shmem_sync(struct shmem *s, uint64_t at, uint64_t end)
{
    struct shmem_piece p = {.at = at};
    struct file *f = s->writer;
    int r = 0;

    if (!f)
        return 0;
    uint32_t flags = f->flags;
    f->flags &= ~(uint32_t)O_APPEND;
    s->fs->vfs->syncing = s;
    while (shmem_next_piece(s, p.at + p.len, end, &p)) {
        int e = shmem_sync_piece(f, &p);
        r = r ? r : e;
    }
    s->fs->vfs->syncing = NULL;
    f->flags = flags;
    return r;
}

void
shmem_sync_all(const struct fs *fs)
{
    if (!fs->vfs)
        return;
    LIST_FOR_EACH(it, &fs->vfs->shmems) {
        struct shmem *s = CONTAINER_OF(it, struct shmem, link);
        if (s->fs == fs)
            (void)shmem_sync(s, 0, UINT64_MAX);
    }
}

void
shmem_punch(struct shmem *s)
{
    struct file *f = s->writer;

    if (!f || !s->fs->is_memory)
        return;
    s->fs->vfs->syncing = s;
    for (size_t i = 0; i < s->n_parts; i++)
        (void)f->ops->fallocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                s->parts[i].at, s->parts[i].len);
    s->fs->vfs->syncing = NULL;
}

void
shmem_punch_all(const struct fs *fs)
{
    LIST_FOR_EACH(it, &fs->vfs->shmems) {
        struct shmem *s = CONTAINER_OF(it, struct shmem, link);
        if (s->fs == fs)
            shmem_punch(s);
    }
}

/* Shared mappings: see shm.h.
 *
 * The mappings of a process are a sorted vector. A request is cut into
 * mappings of one part each, since the parts of an object need not be
 * neighbours in the memory of the host. */
#include "kernel/shm.h"

#include "base/vec.h"
#include "kernel/kernel.h"
#include "kernel/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define GROW_BYTES 65536u /* memory grows in these steps */

struct task *
shm_space(struct task *t)
{
    return t->thread ? t->thread->owner : t;
}

/* --- objects */

OWN struct shmem *
shm_new(void)
{
    struct shmem *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->refs = 1;
    list_init(&s->link);
    return s;
}

OWN struct shmem *
shm_of_file(struct kernel *k, struct file *f)
{
    struct shmem *s = shmem_find(f->node.mnt->fs, f->node.ino);

    if (s) {
        s->refs++;
    } else {
        s = shm_new();
        if (!s)
            return NULL;
        s->fs = f->node.mnt->fs;
        s->ino = f->node.ino;
        list_push_back(&k->vfs.shmems, &s->link);
    }
    if (!s->writer && file_is_writable(f))
        s->writer = file_get(f);
    return s;
}

void
shm_put(struct kernel *k, OWN struct shmem *s)
{
    if (!s || --s->refs)
        return;
    for (size_t i = 0; i < s->n_parts; i++)
        limits_uncharge(&k->limits, LIMIT_memory, s->parts[i].len);
    (void)shmem_sync(s, 0, UINT64_MAX);
    list_remove(&s->link);
    for (size_t i = 0; i < s->n_parts; i++)
        k->machine->share_free(k->engine, s->parts[i].bytes, s->parts[i].len);
    free(s->parts);
    file_put(s->writer);
    free(s);
}

/* Reads the content of the file into a new part. Everything beyond the end of
 * the file stays zero. */
static int
shm_fill(struct file *f, const struct shmem_part *p)
{
    uint64_t pos = p->at;

    while (pos < p->at + p->len) {
        int64_t n = f->ops->read(f, NULL, p->bytes + (pos - p->at),
                                 p->at + p->len - pos, &pos);
        if (n <= 0)
            return (int)n;
    }
    return 0;
}

/* Inserts the part p, which overlaps with no other, and fills it. */
static int
shm_add_part(struct task *t, struct shmem *s, struct shmem_part p,
             struct file *f)
{
    struct kernel *k = t->kernel;
    const struct shmem_part *next = shmem_next_part(s, p.at);
    size_t i = next ? (size_t)(next - s->parts) : s->n_parts;

    if (!VEC_ROOM(s->parts, s->n_parts) ||
        !kernel_charge(t, LIMIT_memory, p.len))
        return -ENOMEM;
    int r = k->machine->share_new(k->engine, p.len, &p.bytes);
    if (r == 0 && f) {
        r = shm_fill(f, &p);
        if (r < 0)
            k->machine->share_free(k->engine, p.bytes, p.len);
    }
    if (r < 0) {
        limits_uncharge(&k->limits, LIMIT_memory, p.len);
        return r;
    }
    memmove(s->parts + i + 1, s->parts + i,
            (s->n_parts - i) * sizeof *s->parts);
    s->parts[i] = p;
    s->n_parts++;
    return 0;
}

/* Makes the parts of [at, end) exist. */
static int
shm_add_parts(struct task *t, struct shmem *s, uint64_t at, uint64_t end,
              struct file *f)
{
    while (at < end) {
        const struct shmem_part *p = shmem_next_part(s, at);
        uint64_t gap_end = p && p->at < end ? p->at : end;
        if (p && p->at <= at) {
            at = p->at + p->len;
            continue;
        }
        int r =
            shm_add_part(t, s, (struct shmem_part){at, gap_end - at, NULL}, f);
        if (r < 0)
            return r;
        at = gap_end;
    }
    return 0;
}

int
shm_fit(struct task *t, struct shmem *s, uint64_t len)
{
    uint64_t pages = (len + SHMEM_PAGE_BYTES - 1) / SHMEM_PAGE_BYTES;

    return shm_add_parts(t, s, 0, pages * SHMEM_PAGE_BYTES, NULL);
}

/* Reserves quota for all of the range that the file has: a write through the
 * mapping cannot report that there is none. Other file systems than ours have
 * no quota for holes. Pages that count as memory are charged as parts. */
static int
shm_reserve_file(struct file *f, uint64_t at, uint64_t end)
{
    struct attr a;

    if (f->node.mnt->fs->is_memory)
        return 0;
    int r = file_getattr(f, &a);
    if (r < 0 || !f->ops->fallocate)
        return r;
    end = a.size < end ? a.size : end;
    while (at < end) {
        int64_t n = f->ops->fallocate(f, FALLOC_FL_KEEP_SIZE, at, end - at);
        if (n < 0)
            return n == -EOPNOTSUPP ? 0 : -ENOMEM;
        at += (uint64_t)n;
    }
    return 0;
}

/* --- mappings */

static size_t
shm_index(const struct task *space, uint64_t at)
{
    size_t from = 0, to = space->n_maps;

    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (space->maps[mid].at + space->maps[mid].len <= at)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

const struct shm_map *
shm_next(const struct task *space, uint64_t at)
{
    size_t i = shm_index(space, at);

    return i < space->n_maps ? &space->maps[i] : NULL;
}

bool
thread_next_share(struct thread *th, uint64_t at, struct machine_share *ret)
{
    const struct shm_map *m = shm_next(th->owner, at);

    if (!m)
        return false;
    *ret = (struct machine_share){m->bytes, m->at, m->len};
    return true;
}

/* Takes references for a mapping, and counts it. */
static bool
shm_map_hold(struct kernel *k, struct shm_map *m)
{
    if (!limits_charge(&k->limits, LIMIT_mappings, 1))
        return false;
    m->mem->refs++;
    if (m->file)
        (void)file_get(m->file);
    return true;
}

static void
shm_map_release(struct task *space, const struct shm_map *m)
{
    struct kernel *k = space->kernel;
    struct segment *segment = m->mem->segment;

    limits_uncharge(&k->limits, LIMIT_mappings, 1);
    shm_put(k, m->mem);
    file_put(m->file);
    if (segment)
        segment_detached(k, segment, space->pid);
}

/* Inserts a mapping, with references of its own. */
static int
shm_insert(struct task *space, size_t i, struct shm_map m)
{
    if (!VEC_ROOM(space->maps, space->n_maps) ||
        !shm_map_hold(space->kernel, &m))
        return -ENOMEM;
    memmove(space->maps + i + 1, space->maps + i,
            (space->n_maps - i) * sizeof m);
    space->maps[i] = m;
    space->n_maps++;
    return 0;
}

static void
shm_remove(struct task *space, size_t i)
{
    struct shm_map m = space->maps[i];

    space->n_maps--;
    memmove(space->maps + i, space->maps + i + 1,
            (space->n_maps - i) * sizeof m);
    shm_map_release(space, &m);
}

/* Removes the first `n` bytes of a mapping. */
static void
shm_cut_front(struct shm_map *m, uint64_t n)
{
    m->at += n;
    m->len -= n;
    m->offset += n;
    m->bytes += n;
}

/* The range is memory of the process alone from now on, and charged to it. This
 * cannot be refused: the memory was there before it was shared. */
static void
shm_charge_private(struct task *space, uint64_t len)
{
    limits_settle(&space->kernel->limits, LIMIT_memory, len);
    space->memory_bytes += len;
}

/* Unmaps [at, end), which is inside of the mapping i. */
static int
shm_unmap_one(struct task *space, size_t i, uint64_t at, uint64_t end)
{
    struct machine *machine = space->thread->machine;
    const struct machine_share zeros = {NULL, at, end - at};
    struct shm_map *m = &space->maps[i];
    bool has_front = at > m->at, has_back = end < m->at + m->len;

    if (has_front && has_back) {
        struct shm_map back = *m;
        shm_cut_front(&back, end - m->at);
        if (shm_insert(space, i + 1, back) < 0)
            return -ENOMEM;
        m = &space->maps[i];
    }
    int r = machine->ops->share(machine, &zeros, has_front + has_back - 1);
    if (r < 0) {
        if (has_front && has_back)
            shm_remove(space, i + 1);
        return r;
    }
    shm_charge_private(space, end - at);
    if (has_front)
        m->len = at - m->at;
    else if (has_back)
        shm_cut_front(m, end - at);
    else
        shm_remove(space, i);
    return 0;
}

int
shm_unmap(struct task *space, uint64_t at, uint64_t end)
{
    while (at < end) {
        const struct shm_map *m = shm_next(space, at);
        if (!m || m->at >= end)
            break;
        uint64_t from = m->at > at ? m->at : at;
        uint64_t to = m->at + m->len < end ? m->at + m->len : end;
        int r = shm_unmap_one(space, (size_t)(m - space->maps), from, to);
        if (r < 0)
            return r;
        at = to;
    }
    return 0;
}

/* Makes the memory reach up to `end`. Of the added memory, `len` bytes are to
 * be shared, and not charged. */
static int
shm_grow(struct task *space, uint64_t end, uint64_t len)
{
    struct machine *m = space->thread->machine;

    m->ops->refresh(m);
    if (end <= m->size)
        return 0;
    uint64_t added = end - m->size;
    space->unpaid_bytes = len < added ? len : added;
    int r = m->ops->grow(m, (end + GROW_BYTES - 1) / GROW_BYTES * GROW_BYTES);
    space->unpaid_bytes = 0;
    if (r == 0)
        shm_charge_private(space, len < added ? len : added);
    return r;
}

/* Maps the first mapping of the range r, as far as one part of mem reaches. The
 * parts exist. Returns its length, or -errno. */
static int64_t
shm_map_one(struct task *space, const struct shm_range *r, struct shmem *mem,
            struct file *file)
{
    struct machine *machine = space->thread->machine;
    const struct shmem_part *p = shmem_next_part(mem, r->offset);
    uint64_t left = p->at + p->len - r->offset;
    struct shm_map m = {.at = r->at,
                        .len = left < r->len ? left : r->len,
                        .offset = r->offset,
                        .mem = mem,
                        .bytes = p->bytes + (r->offset - p->at),
                        .file = file,
                        .prot = r->prot};
    const struct machine_share share = {m.bytes, m.at, m.len};
    size_t i = shm_index(space, m.at);

    int e = shm_insert(space, i, m);
    if (e < 0)
        return e;
    e = machine->ops->share(machine, &share, 1);
    if (e < 0) {
        shm_remove(space, i);
        return e;
    }
    space->memory_bytes -= m.len;
    limits_uncharge(&space->kernel->limits, LIMIT_memory, m.len);
    return (int64_t)m.len;
}

/* Maps all of the range, or nothing. */
static int
shm_map_all(struct task *space, struct shm_range r, struct shmem *mem,
            struct file *file)
{
    uint64_t start = r.at;

    while (r.len) {
        int64_t n = shm_map_one(space, &r, mem, file);
        if (n < 0) {
            (void)shm_unmap(space, start, r.at);
            return (int)n;
        }
        r.at += (uint64_t)n;
        r.offset += (uint64_t)n;
        r.len -= (uint64_t)n;
    }
    return 0;
}

/* Maps the range over whatever is there. The caller holds mem and file. */
static int
shm_map_over(struct task *space, const struct shm_range *r, struct shmem *mem,
             struct file *file)
{
    uint64_t end = r->offset + r->len;
    int e = 0;

    if (file && file_is_writable(file))
        e = shm_reserve_file(file, r->offset, end);
    if (e == 0)
        e = shm_add_parts(space, mem, r->offset, end, file);
    if (e == 0 && file)
        shmem_punch(mem);
    if (e == 0)
        e = shm_unmap(space, r->at, r->at + r->len);
    if (e == 0)
        e = shm_grow(space, r->at + r->len, r->len);
    return e < 0 ? e : shm_map_all(space, *r, mem, file);
}

/* The mapping that is replaced may have the last references. */
int
shm_map(struct task *space, const struct shm_range *r, struct shmem *mem,
        struct file *file)
{
    struct segment *segment = mem->segment;

    if (r->at < space->thread->machine->share_from)
        return -EINVAL;
    mem->refs++;
    if (file)
        (void)file_get(file);
    int e = shm_map_over(space, r, mem, file);
    sched_begin_count(space->kernel);
    file_put(file);
    shm_put(space->kernel, mem);
    if (segment)
        segment_tidy(space->kernel, segment);
    return e;
}

int
shm_sync(struct task *space, uint64_t at, uint64_t end)
{
    int r = 0;

    for (size_t i = shm_index(space, at);
         i < space->n_maps && space->maps[i].at < end; i++) {
        const struct shm_map *m = &space->maps[i];
        bool is_memory = m->file && m->file->node.mnt->fs->is_memory;
        int e =
            is_memory ? 0 : shmem_sync(m->mem, m->offset, m->offset + m->len);
        r = r ? r : e;
    }
    return r;
}

/* --- processes */

int
shm_copy(struct task *child, const struct task *parent)
{
    for (size_t i = 0; i < parent->n_maps; i++) {
        int r = shm_insert(child, i, parent->maps[i]);
        if (r < 0)
            return r;
        child->unpaid_bytes += parent->maps[i].len;
    }
    return 0;
}

void
shm_drop(struct task *t)
{
    while (t->n_maps)
        shm_remove(t, t->n_maps - 1);
    free(STEAL(t->maps));
    t->unpaid_bytes = 0;
}

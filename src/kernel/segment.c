/* Segments of System V: see segment.h. */
#include "kernel/segment.h"

#include "kernel/kernel.h"
#include "kernel/shm.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

enum { SEGMENTS_MAX = 4096, ID_MAX = INT32_MAX };

struct segment *
segment_find(struct kernel *k, int32_t id)
{
    LIST_FOR_EACH(it, &k->segments) {
        struct segment *s = CONTAINER_OF(it, struct segment, link);
        if (s->id == id)
            return s;
    }
    return NULL;
}

static struct segment *
segment_of_key(struct kernel *k, int32_t key)
{
    LIST_FOR_EACH(it, &k->segments) {
        struct segment *s = CONTAINER_OF(it, struct segment, link);
        if (s->key == key && !s->is_removed)
            return s;
    }
    return NULL;
}

bool
segment_is_own(const struct task *t, const struct segment *s)
{
    uint32_t uid = t->as.cred.uid;

    return uid == ROOT_ID || uid == s->uid || uid == s->cuid;
}

int
segment_access(const struct task *t, const struct segment *s, int want)
{
    const struct attr owner = {.mode = s->mode, .uid = s->uid, .gid = s->gid};
    const struct attr creator = {
        .mode = s->mode, .uid = s->cuid, .gid = s->cgid};

    return vfs_access(&t->as.cred, &owner, want) == 0
               ? 0
               : vfs_access(&t->as.cred, &creator, want);
}

static void
segment_free(struct kernel *k, OWN struct segment *s)
{
    list_remove(&s->link);
    s->mem->segment = NULL;
    shm_put(k, s->mem);
    free(s);
    k->n_segments--;
}

/* Numbers are not used again soon: a program that still has the number of a
 * removed segment gets an error. */
static int32_t
segment_new_id(struct kernel *k)
{
    do {
        k->last_segment = k->last_segment == ID_MAX ? 0 : k->last_segment + 1;
    } while (segment_find(k, k->last_segment));
    return k->last_segment;
}

/* As in /dev/shm, segments can have half of the memory: they outlive their
 * processes, and others must be able to run and remove them. */
static bool
segment_fits(struct kernel *k, uint64_t size)
{
    LIST_FOR_EACH(it, &k->segments)
        size += CONTAINER_OF(it, struct segment, link)->size;
    if (k->n_segments < SEGMENTS_MAX && size <= k->limits.max[LIMIT_memory] / 2)
        return true;
    k->limits.was_hit[LIMIT_memory] = true;
    return false;
}

static int
segment_new(struct task *t, int32_t key, uint32_t size, uint32_t flags)
{
    struct kernel *k = t->kernel;
    const struct cred *c = &t->as.cred;

    if (!size || size > INT32_MAX)
        return -EINVAL;
    if (!segment_fits(k, size))
        return -ENOSPC;
    struct segment *s = calloc(1, sizeof *s);
    struct shmem *mem = s ? shm_new() : NULL;
    if (!mem || shm_fit(t, mem, size) < 0) {
        shm_put(k, mem);
        free(s);
        return -ENOMEM;
    }
    *s = (struct segment){.id = segment_new_id(k),
                          .key = key,
                          .uid = c->uid,
                          .gid = c->gid,
                          .cuid = c->uid,
                          .cgid = c->gid,
                          .mode = flags & 0777,
                          .size = size,
                          .mem = mem,
                          .cpid = t->pid,
                          .ctime_ns = clock_real_ns(&k->clock)};
    mem->segment = s;
    list_push_back(&k->segments, &s->link);
    k->n_segments++;
    return s->id;
}

int
segment_get(struct task *t, int32_t key, uint32_t size, uint32_t flags)
{
    struct segment *s =
        key == IPC_PRIVATE ? NULL : segment_of_key(t->kernel, key);

    if (!s)
        return key == IPC_PRIVATE || flags & IPC_CREAT
                   ? segment_new(t, key, size, flags)
                   : -ENOENT;
    if ((flags & (IPC_CREAT | IPC_EXCL)) == (IPC_CREAT | IPC_EXCL))
        return -EEXIST;
    if (size > s->size)
        return -EINVAL;
    int want = (flags & 0444 ? R_OK : 0) | (flags & 0222 ? W_OK : 0);
    int r = segment_access(t, s, want);
    return r < 0 ? r : s->id;
}

size_t
segment_mappings(const struct segment *s)
{
    return s->mem->refs - 1;
}

void
segment_tidy(struct kernel *k, struct segment *s)
{
    if (s->is_removed && !segment_mappings(s))
        segment_free(k, s);
}

void
segment_remove(struct kernel *k, struct segment *s)
{
    s->is_removed = true;
    s->key = IPC_PRIVATE;
    segment_tidy(k, s);
}

void
segment_attached(struct kernel *k, struct segment *s, int32_t pid)
{
    s->atime_ns = clock_real_ns(&k->clock);
    s->lpid = pid;
}

void
segment_detached(struct kernel *k, struct segment *s, int32_t pid)
{
    s->dtime_ns = clock_real_ns(&k->clock);
    s->lpid = pid;
    segment_tidy(k, s);
}

void
segments_free(struct kernel *k)
{
    LIST_FOR_EACH_SAFE(it, &k->segments)
        segment_free(k, CONTAINER_OF(it, struct segment, link));
}

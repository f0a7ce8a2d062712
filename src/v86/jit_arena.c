#include "v86/jit_arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { JIT_ALIGN = 64 };

/* A piece of code, in bytes from the start of the arena. */
struct jit_piece {
    size_t start, end;
};

struct jit_arena {
    uint8_t *base;
    size_t bytes, used, page_bytes;
    struct jit_piece pieces[JIT_PIECES_MAX]; /* by address */
    size_t count;
};

int
jit_arena_new(size_t bytes, OWN struct jit_arena **ret)
{
    struct jit_arena *a = calloc(1, sizeof *a);

    if (!a)
        return -ENOMEM;
    a->bytes = bytes;
    a->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    a->base = mmap(NULL, bytes, PROT_READ | PROT_EXEC,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (a->base == MAP_FAILED) {
        int r = -errno;
        free(a);
        return r;
    }
    *ret = a;
    return 0;
}

void
jit_arena_free(struct jit_arena *a)
{
    if (!a)
        return;
    (void)munmap(a->base, a->bytes);
    free(a);
}

/* Finds the first gap of this size (first fit), and makes it a piece. Returns
 * NULL if there is none. */
static struct jit_piece *
jit_arena_insert(struct jit_arena *a, size_t bytes)
{
    size_t start = 0, i;

    if (a->count == JIT_PIECES_MAX || bytes > a->bytes)
        return NULL;
    for (i = 0; i < a->count; i++) {
        if (a->pieces[i].start - start >= bytes)
            break;
        start = a->pieces[i].end;
    }
    if (a->bytes - start < bytes)
        return NULL;
    memmove(a->pieces + i + 1, a->pieces + i,
            (a->count - i) * sizeof *a->pieces);
    a->pieces[i] = (struct jit_piece){start, start + bytes};
    a->count++;
    a->used += bytes;
    return &a->pieces[i];
}

static int
jit_arena_protect(const struct jit_arena *a, const struct jit_piece *p,
                  int protection)
{
    size_t start = p->start & ~(a->page_bytes - 1);

    return mprotect(a->base + start, p->end - start, protection);
}

/* Linux can refuse to make the pages executable again, if it lacks memory for
 * its own tables. Other pieces in these pages then fault when they are called,
 * which is a trap of the core. */
void *
jit_arena_add(struct jit_arena *a, const uint8_t *code, size_t bytes)
{
    size_t room = (bytes + JIT_ALIGN - 1) & ~(size_t)(JIT_ALIGN - 1);
    const struct jit_piece *p = jit_arena_insert(a, room);

    if (!p)
        return NULL;

    uint8_t *at = a->base + p->start;
    if (jit_arena_protect(a, p, PROT_READ | PROT_WRITE) < 0) {
        jit_arena_remove(a, at);
        return NULL;
    }
    memcpy(at, code, bytes);
    if (jit_arena_protect(a, p, PROT_READ | PROT_EXEC) < 0) {
        jit_arena_remove(a, at);
        return NULL;
    }
    return at;
}

void
jit_arena_remove(struct jit_arena *a, const void *code)
{
    size_t start = (size_t)((const uint8_t *)code - a->base), i;

    for (i = 0; i < a->count && a->pieces[i].start != start; i++)
        continue;
    if (i == a->count)
        return;
    a->used -= a->pieces[i].end - a->pieces[i].start;
    a->count--;
    memmove(a->pieces + i, a->pieces + i + 1,
            (a->count - i) * sizeof *a->pieces);
}

size_t
jit_arena_used(const struct jit_arena *a)
{
    return a->used;
}

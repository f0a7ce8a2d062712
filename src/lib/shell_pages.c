/* Pages of shells: lists of pages, their copies in machines, and their records.
 *
 * A list contains the pages that differ from the frozen image of the shell.
 * Lists are immutable and share pages, so a fork, a snapshot or a checkpoint
 * costs one reference, and comparing two lists means comparing pointers. */
#include "lib/shell_pages.h"

#include "base/buf.h"
#include "base/vec.h"
#include "kernel/machine.h"
#include "lib/runtime.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 4 * SHELL_PAGE_BYTES,             /* compared at once */
    RUN_PAGES_MIN = (256 << 10) / SHELL_PAGE_BYTES, /* worth a file */
    RUN_PAGES_MAX = (4 << 20) / SHELL_PAGE_BYTES,
    RUNS_MAX = 16, /* at a time, as each holds a descriptor and memory */
};

struct page {
    _Atomic uint32_t refs;
    uint8_t bytes[SHELL_PAGE_BYTES];
};

struct entry {
    uint32_t index; /* its address is index * SHELL_PAGE_BYTES */
    struct page *page;
};

/* Consecutive entries of a list, as a file of the host. */
struct run {
    size_t first, n;
    int hfd;
    _Atomic uint32_t *n_runs; /* a counter that includes it */
};

struct shell_pages {
    _Atomic uint32_t refs;
    uint64_t size;   /* of the memory */
    struct entry *v; /* by index */
    size_t n;
    atomic_bool was_laid;
    _Atomic(struct run *) run; /* NULL: not created */
};

static void
page_put(struct page *p)
{
    if (atomic_fetch_sub(&p->refs, 1) == 1)
        free(p);
}

static void
run_free(OWN struct run *run)
{
    if (!run)
        return;
    if (run->hfd >= 0)
        close(run->hfd);
    atomic_fetch_sub(run->n_runs, 1);
    free(run);
}
DEFINE_CLEANUP(struct run *, run_free)

struct shell_pages *
shell_pages_get(struct shell_pages *p)
{
    if (p)
        atomic_fetch_add(&p->refs, 1);
    return p;
}

void
shell_pages_put(OWN struct shell_pages *p)
{
    if (!p || atomic_fetch_sub(&p->refs, 1) != 1)
        return;
    for (size_t i = 0; i < p->n; i++)
        page_put(p->v[i].page);
    run_free(p->run);
    free(p->v);
    free(p);
}

uint64_t
shell_pages_size(const struct shell_pages *p)
{
    return p ? p->size : 0;
}

/* Appends an entry; consumes `page`. */
static int
add(struct shell_pages *p, uint32_t index, OWN struct page *page)
{
    if (!page)
        return -ENOMEM;
    if (!VEC_ROOM(p->v, p->n)) {
        page_put(page);
        return -ENOMEM;
    }
    p->v[p->n++] = (struct entry){index, page};
    return 0;
}

/* Returns the page of that index, or NULL. Must be called with increasing
 * indexes. */
static struct page *
find(const struct shell_pages *p, size_t *hint, uint32_t index)
{
    while (p && *hint < p->n && p->v[*hint].index < index)
        ++*hint;
    bool is_there = p && *hint < p->n && p->v[*hint].index == index;
    return is_there ? p->v[*hint].page : NULL;
}

/* Returns a page with these bytes: the old one of that index, if it is equal.
 */
static struct page *
page_for(const struct shell_pages *old, size_t *hint, uint32_t index,
         const uint8_t *bytes)
{
    struct page *p = find(old, hint, index);

    if (p && memcmp(p->bytes, bytes, SHELL_PAGE_BYTES) == 0) {
        atomic_fetch_add(&p->refs, 1);
        return p;
    }
    p = malloc(sizeof *p);
    if (p) {
        p->refs = 1;
        memcpy(p->bytes, bytes, SHELL_PAGE_BYTES);
    }
    return p;
}

/* Returns the number of bytes from `at` that equal the frozen image or are
 * unused; 0 if the page at `at` differs. Blocks do not cross the ends of
 * memories. */
static uint64_t
unchanged(const struct shell_image *image, const uint8_t *memory,
          const uint8_t *was, uint64_t at)
{
    if (at >= image->dead_from && at + SHELL_PAGE_BYTES <= image->dead_to)
        return (image->dead_to - at) / SHELL_PAGE_BYTES * SHELL_PAGE_BYTES;
    if (at % BLOCK_BYTES == 0 && !memcmp(memory + at, was, BLOCK_BYTES))
        return BLOCK_BYTES;
    return memcmp(memory + at, was, SHELL_PAGE_BYTES) ? 0 : SHELL_PAGE_BYTES;
}

/* Appends the pages of `memory` that differ from the image. */
static int
add_changed(struct shell_pages *p, const struct shell_pages *last,
            const struct shell_image *image, const uint8_t *memory)
{
    static const uint8_t zero[BLOCK_BYTES];
    uint64_t first = image->live_from / SHELL_PAGE_BYTES * SHELL_PAGE_BYTES;
    size_t hint = 0;

    for (uint64_t at = first, same; at < p->size; at += same) {
        const uint8_t *was =
            at < image->size ? image->memory + (at - first) : zero;
        same = unchanged(image, memory, was, at);
        if (same)
            continue;
        uint32_t index = (uint32_t)(at / SHELL_PAGE_BYTES);
        int r = add(p, index, page_for(last, &hint, index, memory + at));
        if (r < 0)
            return r;
        same = SHELL_PAGE_BYTES;
    }
    return 0;
}

int
shell_pages_new(uint64_t size, OWN struct shell_pages **ret)
{
    struct shell_pages *p = calloc(1, sizeof *p);

    if (!p)
        return -ENOMEM;
    p->refs = 1;
    p->size = size;
    *ret = p;
    return 0;
}

int
shell_pages_add(struct shell_pages *p, uint32_t index, const void *bytes,
                size_t len)
{
    if ((p->n && index <= p->v[p->n - 1].index) ||
        index >= p->size / SHELL_PAGE_BYTES || len > SHELL_PAGE_BYTES)
        return -EINVAL;
    struct page *page = calloc(1, sizeof *page);
    if (page) {
        page->refs = 1;
        memcpy(page->bytes, bytes, len);
    }
    return add(p, index, page);
}

/* Two lists side by side: pages with the same index. */
struct pair {
    const struct shell_pages *a, *b;
    size_t i, j;
    uint32_t index;
    struct page *x, *y; /* NULL: no page of this index */
};

static bool
pair_next(struct pair *p)
{
    bool has_a = p->a && p->i < p->a->n, has_b = p->b && p->j < p->b->n;
    uint32_t of_a = has_a ? p->a->v[p->i].index : UINT32_MAX;
    uint32_t of_b = has_b ? p->b->v[p->j].index : UINT32_MAX;

    p->index = of_a < of_b ? of_a : of_b;
    p->x = has_a && of_a <= of_b ? p->a->v[p->i++].page : NULL;
    p->y = has_b && of_b <= of_a ? p->b->v[p->j++].page : NULL;
    return has_a || has_b;
}

uint64_t
shell_pages_lost(const struct shell_pages *p, const struct shell_pages *other)
{
    struct pair at = {.a = p, .b = other};
    uint64_t bytes = 0;

    while (p != other && pair_next(&at))
        bytes += at.x && at.x != at.y ? SHELL_PAGE_BYTES : 0;
    return bytes;
}

int
shell_pages_take(const struct shell_pages *last,
                 const struct shell_image *image, const uint8_t *memory,
                 uint64_t size, OWN struct shell_pages **ret)
{
    struct shell_pages *p = NULL;

    int r = shell_pages_new(size, &p);
    if (r < 0)
        return r;
    r = add_changed(p, last, image, memory);
    if (r < 0) {
        shell_pages_put(p);
        return r;
    }
    *ret = p;
    return 0;
}

/* --- copying into a machine
 *
 * Problem: a template with many forks copies the same pages again for each
 * fork, although a fork usually touches few of them.
 *
 * Idea: copy-on-write by the host. When a list is used for the second time, its
 * longest sequence of consecutive pages becomes a memory file, which machines
 * map privately. Linux then copies a page only when it is written. Files are
 * limited (RUNS_MAX), because each holds a descriptor and memory; without a
 * file, pages are copied. */

/* Finds the longest sequence from `beyond`, at most RUN_PAGES_MAX pages. */
static void
find_row(const struct shell_pages *p, uint64_t beyond, struct run *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++) {
        bool goes_on =
            n && n < RUN_PAGES_MAX && p->v[i].index == p->v[i - 1].index + 1;
        if ((uint64_t)p->v[i].index * SHELL_PAGE_BYTES < beyond)
            continue;
        n = goes_on ? n + 1 : 1;
        if (n > ret->n) {
            ret->first = i + 1 - n;
            ret->n = n;
        }
    }
}

/* Reduces the sequence to whole pages of the host. */
static void
find_run(const struct shell_pages *p, uint64_t beyond, struct run *ret)
{
    size_t unit = (size_t)sysconf(_SC_PAGESIZE) / SHELL_PAGE_BYTES;

    find_row(p, beyond, ret);
    size_t odd = ret->n ? p->v[ret->first].index % unit : 0;
    size_t skipped = odd ? unit - odd : 0;
    ret->first += skipped;
    ret->n = ret->n > skipped ? (ret->n - skipped) / unit * unit : 0;
}

static int
write_run(const struct shell_pages *p, struct run *run)
{
    run->hfd = memfd_create("wasmsand-shell", MFD_CLOEXEC);
    if (run->hfd < 0)
        return -errno;
    for (size_t i = 0; i < run->n; i++)
        if (write(run->hfd, p->v[run->first + i].page->bytes,
                  SHELL_PAGE_BYTES) != SHELL_PAGE_BYTES)
            return -ENOMEM;
    return 0;
}

/* Returns NULL if no sequence is long enough, or the file cannot be created. */
static OWN struct run *
run_new(const struct shell_pages *p, struct shell_image *image)
{
    struct run found = {.hfd = -1, .n_runs = &image->n_runs};

    find_run(p, image->size, &found);
    if (found.n < RUN_PAGES_MIN)
        return NULL;
    CLEANUP(run_freep) struct run *run = malloc(sizeof *run);
    if (!run)
        return NULL;
    *run = found;
    if (atomic_fetch_add(run->n_runs, 1) >= RUNS_MAX || write_run(p, run) < 0)
        return NULL;
    return STEAL(run);
}

/* Returns the file of a list that is used at least for the second time, or
 * NULL. */
static const struct run *
run_of(struct shell_pages *p, struct shell_image *image)
{
    struct run *run = atomic_load(&p->run), *other = NULL;

    if (run || !atomic_exchange(&p->was_laid, true))
        return run;
    run = run_new(p, image);
    if (!run || atomic_compare_exchange_strong(&p->run, &other, run))
        return run;
    run_free(run);
    return other;
}

void
shell_pages_lay(struct shell_pages *p, struct shell_image *image,
                struct machine *m)
{
    const struct run *run = p ? run_of(p, image) : NULL;

    if (run && m->ops->map(m, run->hfd,
                           (uint64_t)p->v[run->first].index * SHELL_PAGE_BYTES,
                           run->n * SHELL_PAGE_BYTES) < 0)
        run = NULL;
    for (size_t i = 0; p && i < p->n; i++)
        if (!run || i < run->first || i >= run->first + run->n)
            memcpy(m->base + (uint64_t)p->v[i].index * SHELL_PAGE_BYTES,
                   p->v[i].page->bytes, SHELL_PAGE_BYTES);
}

/* --- records: pages, and a patch for small changes
 *
 * Problem: a command changes a few words in a dozen pages of the shell.
 * Recording whole pages would write 50 KiB for each command.
 *
 * Idea: the recorded pages stay as a base, and one record, the patch, contains
 * the changed words of all pages relative to that base. The patch is rewritten
 * by each commit, so it always describes the current state: no sequence of
 * patches has to be replayed. A page is recorded again if its changes exceed
 * PAGE_PATCH_MAX, or if the patch is full. Then the pages that have not changed
 * since the last commit are recorded first (`settled`), because they will
 * probably stay as they are.
 *
 * Format: for each page its index (4 bytes) and the number of word sequences
 * (2). For each sequence the number of its first word (2), the number of words
 * (2), and the words. Numbers have the byte order of the host. Zeros may
 * follow, because the record is padded to avoid changes of its length. */

#define WORD ((size_t)8)
enum {
    WORDS = SHELL_PAGE_BYTES / 8,
    STEP = 8,
    PAGE_PATCH_MAX = 512,
};

static void
put_run(struct buf *b, const uint8_t *bytes, uint16_t first, uint16_t n)
{
    buf_add(b, &first, sizeof first);
    buf_add(b, &n, sizeof n);
    buf_add(b, bytes + first * WORD, n * WORD);
}

static bool
is_same(const uint8_t *a, const uint8_t *b, unsigned word, unsigned n)
{
    return !memcmp(a + word * WORD, b + word * WORD, n * WORD);
}

/* Returns the next word that differs, or WORDS. */
static unsigned
next_change(const uint8_t *a, const uint8_t *b, unsigned i)
{
    while (i < WORDS && is_same(a, b, i, i % STEP ? 1 : STEP))
        i += i % STEP ? 1 : STEP;
    while (i < WORDS && is_same(a, b, i, 1))
        i++;
    return i;
}

/* Appends the changes of one page. Returns false if they are too long; then b
 * is unchanged. */
static bool
put_patch(struct buf *b, uint32_t index, const uint8_t *was, const uint8_t *now,
          size_t max)
{
    size_t start = b->len;
    uint16_t n = 0;

    buf_add(b, &index, sizeof index);
    buf_add(b, &n, sizeof n);
    for (unsigned i = 0, first; (first = next_change(was, now, i)) < WORDS &&
                                b->len - start <= PAGE_PATCH_MAX;
         n++) {
        for (i = first; i < WORDS && !is_same(was, now, i, 1);)
            i++;
        put_run(b, now, (uint16_t)first, (uint16_t)(i - first));
    }
    bool is_short =
        !b->error && b->len - start <= PAGE_PATCH_MAX && b->len <= max;
    if (is_short)
        memcpy(b->p + start + sizeof index, &n, sizeof n);
    else
        b->len = start;
    return is_short;
}

static int
add_shared(struct shell_pages *p, uint32_t index, struct page *page)
{
    atomic_fetch_add(&page->refs, 1);
    return add(p, index, page);
}

int
shell_pages_update(const struct shell_pages *base,
                   const struct shell_pages *settled,
                   const struct shell_pages *now, size_t max,
                   int (*fn)(void *arg, uint32_t index, const uint8_t *bytes),
                   void *arg, struct buf *patch, OWN struct shell_pages **ret)
{
    struct pair at = {.a = base, .b = now};
    struct shell_pages *p = NULL;
    size_t hint = 0;

    int r = shell_pages_new(shell_pages_size(now), &p);
    while (r == 0 && pair_next(&at)) {
        bool is_kept =
            at.x && at.y &&
            (at.x == at.y ||
             (at.y != find(settled, &hint, at.index) &&
              put_patch(patch, at.index, at.x->bytes, at.y->bytes, max)));
        if (!is_kept)
            r = fn(arg, at.index, at.y ? at.y->bytes : NULL);
        if (r == 0 && at.y)
            r = add_shared(p, at.index, is_kept ? at.x : at.y);
    }
    if (r != 0) {
        shell_pages_put(p);
        return r;
    }
    *ret = p;
    return 0;
}

struct patch {
    const uint8_t *p, *end;
};

static bool
get(struct patch *in, void *to, size_t len)
{
    if (len > (size_t)(in->end - in->p))
        return false;
    memcpy(to, in->p, len);
    in->p += len;
    return true;
}

/* Reads the index of the next page; false: only zeros are left. */
static bool
get_index(struct patch *in, uint32_t *ret)
{
    const uint8_t *at = in->p;

    while (at < in->end && !*at)
        at++;
    if (at == in->end)
        in->p = at;
    return get(in, ret, sizeof *ret);
}

/* Reads the word sequences of one page. */
static bool
get_runs(struct patch *in, uint8_t *bytes)
{
    uint16_t runs, first, n;

    if (!get(in, &runs, sizeof runs))
        return false;
    while (runs--)
        if (!get(in, &first, sizeof first) || !get(in, &n, sizeof n) ||
            first > WORDS || n > WORDS - first ||
            !get(in, bytes + first * WORD, n * WORD))
            return false;
    return true;
}

/* Appends the next page of the patch, with its changes applied. */
static int
add_patched(struct shell_pages *p, uint32_t index, const struct page *was,
            struct patch *in)
{
    struct page *page = malloc(sizeof *page);

    if (!page)
        return -ENOMEM;
    page->refs = 1;
    memcpy(page->bytes, was->bytes, sizeof page->bytes);
    bool is_patch = get_runs(in, page->bytes);
    int r = add(p, index, page);
    return is_patch ? r : -EINVAL;
}

int
shell_pages_patch(const struct shell_pages *base, const void *patch, size_t len,
                  OWN struct shell_pages **ret)
{
    struct patch in = {patch, (const uint8_t *)patch + len};
    struct pair at = {.a = base};
    struct shell_pages *p = NULL;
    uint32_t index = UINT32_MAX;

    int r = shell_pages_new(shell_pages_size(base), &p);
    bool has_more = get_index(&in, &index);
    while (r == 0 && pair_next(&at)) {
        if (!has_more || index != at.index) {
            r = add_shared(p, at.index, at.x);
            continue;
        }
        r = add_patched(p, index, at.x, &in);
        has_more = get_index(&in, &index);
    }
    if (r == 0 && (has_more || in.p != in.end))
        r = -EINVAL;
    if (r != 0) {
        shell_pages_put(p);
        return r;
    }
    *ret = p;
    return 0;
}

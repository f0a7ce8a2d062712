/* Copying the pages of a list into a machine.
 *
 * Problem: a template with many forks copies the same pages again for each
 * fork, although a fork usually touches few of them.
 *
 * Idea: copy-on-write by the host. When a list is used for the second time, its
 * longest sequence of consecutive pages becomes a memory file, which machines
 * map privately. Linux then copies a page only when it is written. Files are
 * limited (FILES_MAX), because each holds a descriptor and memory; without a
 * file, pages are copied. */
#include "lib/shell_pages_impl.h"

#include "kernel/machine.h"
#include "lib/runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file should be worth its descriptor, and must not keep too much memory:
 * with FILES_MAX of them, a runtime keeps at most 64 MiB. */
enum {
    FILE_PAGES_MIN = (256 << 10) / SHELL_PAGE_BYTES, /* worth a file */
    FILE_PAGES_MAX = (4 << 20) / SHELL_PAGE_BYTES,
    FILES_MAX = 16, /* at a time */
};

/* Consecutive entries of a list, as a file of the host. */
struct page_file {
    size_t first, n;
    int hfd;
    _Atomic uint32_t *n_files; /* a counter that includes it */
};

void
shell_page_file_free(OWN struct page_file *f)
{
    if (!f)
        return;
    if (f->hfd >= 0)
        close(f->hfd);
    atomic_fetch_sub(f->n_files, 1);
    free(f);
}
DEFINE_CLEANUP(struct page_file *, shell_page_file_free)

/* Finds the longest sequence from the address `beyond`, at most FILE_PAGES_MAX
 * pages. Below that address is the program's own memory, which the engine
 * maps. */
static void
page_file_longest(const struct shell_pages *p, uint64_t beyond,
                  struct page_file *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++) {
        bool goes_on =
            n && n < FILE_PAGES_MAX && p->v[i].index == p->v[i - 1].index + 1;
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
page_file_find(const struct shell_pages *p, uint64_t beyond,
               struct page_file *ret)
{
    size_t unit = (size_t)sysconf(_SC_PAGESIZE) / SHELL_PAGE_BYTES;

    page_file_longest(p, beyond, ret);
    size_t odd = ret->n ? p->v[ret->first].index % unit : 0;
    size_t skipped = odd ? unit - odd : 0;
    ret->first += skipped;
    ret->n = ret->n > skipped ? (ret->n - skipped) / unit * unit : 0;
}

static int
page_file_write(const struct shell_pages *p, struct page_file *f)
{
    f->hfd = memfd_create("wasmsand-shell", MFD_CLOEXEC);
    if (f->hfd < 0)
        return -errno;
    for (size_t i = 0; i < f->n; i++)
        if (write(f->hfd, p->v[f->first + i].page->bytes, SHELL_PAGE_BYTES) !=
            SHELL_PAGE_BYTES)
            return -ENOMEM;
    return 0;
}

/* Returns NULL if no sequence is long enough, or the file cannot be created. */
static OWN struct page_file *
page_file_new(const struct shell_pages *p, struct shell_image *image)
{
    struct page_file found = {.hfd = -1, .n_files = &image->n_files};

    page_file_find(p, image->size, &found);
    if (found.n < FILE_PAGES_MIN)
        return NULL;
    CLEANUP(shell_page_file_freep) struct page_file *f = malloc(sizeof *f);
    if (!f)
        return NULL;
    *f = found;
    if (atomic_fetch_add(f->n_files, 1) >= FILES_MAX ||
        page_file_write(p, f) < 0)
        return NULL;
    return STEAL(f);
}

/* Returns the file of a list that is used at least for the second time, or
 * NULL. Two threads may make the file at the same time; the second one drops
 * its own. */
static const struct page_file *
page_file_of(struct shell_pages *p, struct shell_image *image)
{
    struct page_file *f = atomic_load(&p->file), *other = NULL;

    if (f || !atomic_exchange(&p->was_used, true))
        return f;
    f = page_file_new(p, image);
    if (!f || atomic_compare_exchange_strong(&p->file, &other, f))
        return f;
    shell_page_file_free(f);
    return other;
}

/* Pages outside of the file are copied. If mapping fails, all are. */
void
shell_pages_restore(struct shell_pages *p, struct shell_image *image,
                    struct machine *m)
{
    const struct page_file *f = p ? page_file_of(p, image) : NULL;

    if (f && m->ops->map(m, f->hfd,
                         (uint64_t)p->v[f->first].index * SHELL_PAGE_BYTES,
                         f->n * SHELL_PAGE_BYTES) < 0)
        f = NULL;
    for (size_t i = 0; p && i < p->n; i++)
        if (!f || i < f->first || i >= f->first + f->n)
            memcpy(m->base + (uint64_t)p->v[i].index * SHELL_PAGE_BYTES,
                   p->v[i].page->bytes, SHELL_PAGE_BYTES);
}

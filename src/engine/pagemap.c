/* Pages of our memory that were written to, by Linux 6.7's PAGEMAP_SCAN.
 *
 * A fork of a machine needs the pages that differ from the initial ones.
 * Reading all of them would touch a memory that may be gigabytes of nothing. */
#include "engine/pagemap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    PAGE_IS_FILE = 1 << 2,
    PAGE_IS_PRESENT = 1 << 3,
    PAGE_IS_SWAPPED = 1 << 4,
    PAGE_IS_PFNZERO = 1 << 5,
};

/* As in linux/fs.h. */
struct scan {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages,
        inverted, mask, anyof_mask, return_mask;
};

static int
pagemap_scan(int hfd, struct scan *s)
{
    s->size = sizeof *s;
    int n = ioctl(hfd, _IOWR('f', 16, struct scan), s);
    return n < 0 ? -errno : n;
}

/* An empty scan shows whether the host's kernel knows the call. */
void
pagemap_init(struct pagemap *p)
{
    struct scan s = {0};

    p->pid = getpid();
    p->hfd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (p->hfd >= 0 && pagemap_scan(p->hfd, &s) < 0)
        pagemap_fini(p);
}

void
pagemap_fini(struct pagemap *p)
{
    if (p->hfd >= 0)
        close(p->hfd);
    p->hfd = -1;
}

/* Finds pages that are present or swapped out, but neither a page of a file nor
 * the shared zero page. A private page of a file stays the file's own until it
 * is written to. After a fork of the process the descriptor still describes the
 * parent, hence the comparison of pids. */
int
pagemap_written(const struct pagemap *p, const uint8_t **at, const uint8_t *end,
                struct page_range ret[PAGE_RANGES])
{
    struct scan s = {
        .start = (uintptr_t)*at,
        .end = (uintptr_t)end,
        .vec = (uintptr_t)ret,
        .vec_len = PAGE_RANGES,
        .inverted = PAGE_IS_FILE | PAGE_IS_PFNZERO,
        .mask = PAGE_IS_FILE | PAGE_IS_PFNZERO,
        .anyof_mask = PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
    };

    if (p->hfd < 0 || p->pid != getpid())
        return -ENOTSUP;
    int n = pagemap_scan(p->hfd, &s);
    if (n >= 0)
        *at = (const uint8_t *)(uintptr_t)s.walk_end;
    return n;
}

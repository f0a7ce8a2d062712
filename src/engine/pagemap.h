/* Queries the host for pages of our own memory that were written to. */
#ifndef ENGINE_PAGEMAP_H
#define ENGINE_PAGEMAP_H

#include <stdint.h>

struct pagemap {
    int hfd; /* -1: not supported by the host */
    int pid; /* of the observed process, to detect a fork */
};

#define PAGE_RANGES 64
struct page_range { /* in the format of Linux: our addresses */
    uint64_t start, end, categories;
};

/* Opens the page map of this process, if the host supports the scan. */
void pagemap_init(struct pagemap *p);
void pagemap_fini(struct pagemap *p);
/* Searches from *at to `end` for pages that were written to since they were
 * mapped. Returns the number of ranges found, at most PAGE_RANGES, and moves
 * *at behind the searched part; or -errno. */
int pagemap_written(const struct pagemap *p, const uint8_t **at,
                    const uint8_t *end, struct page_range ret[PAGE_RANGES]);

#endif

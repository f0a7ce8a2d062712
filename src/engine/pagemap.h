/* Queries the host for pages of our own memory that were written to. */
#ifndef ENGINE_PAGEMAP_H
#define ENGINE_PAGEMAP_H

#include <stdint.h>

struct pagemap {
    int hfd; /* -1: the host cannot tell */
    int pid; /* of the process it tells about: not that of a child of ours */
};

#define PAGE_RANGES 64
struct page_range { /* as Linux fills it in: addresses of ours */
    uint64_t start, end, categories;
};

void pagemap_init(struct pagemap *p);
void pagemap_fini(struct pagemap *p);
/* The first ranges in *at to end of pages that are no longer as they were
 * mapped; moves *at behind what was looked at. Their number, or -errno. */
int pagemap_written(const struct pagemap *p, const uint8_t **at,
                    const uint8_t *end, struct page_range ret[PAGE_RANGES]);

#endif

/* The memory of a shell between commands: the pages that differ from the image
 * every shell starts with. */
#ifndef LIB_SHELL_PAGES_H
#define LIB_SHELL_PAGES_H

#include "base/own.h"

#include <stddef.h>
#include <stdint.h>

struct shell_image;

enum { SHELL_PAGE_BYTES = 4096 };

/* Shared by the sandboxes that were forked from each other. */
struct page;

struct shell_pages {
    struct shell_page {
        uint32_t index; /* its address is index * SHELL_PAGE_BYTES */
        struct page *page;
    } * v; /* by index */
    size_t n, cap;
    uint64_t size; /* of the memory */
};

void shell_pages_fini(struct shell_pages *p);
/* References to the same pages. -ENOMEM. */
int shell_pages_copy(struct shell_pages *to, const struct shell_pages *from);
/* Takes the state of `memory`; pages that have not changed since the last time
 * are kept. -ENOMEM: nothing has changed. */
int shell_pages_take(struct shell_pages *p, const struct shell_image *image,
                     const uint8_t *memory, uint64_t size);
/* Lays the pages into the memory of a new instance. */
void shell_pages_lay(const struct shell_pages *p, uint8_t *memory);

#endif

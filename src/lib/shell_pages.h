/* The memory of a shell between commands: the pages that differ from the image
 * every shell starts with. */
#ifndef LIB_SHELL_PAGES_H
#define LIB_SHELL_PAGES_H

#include "base/own.h"

#include <stddef.h>
#include <stdint.h>

struct shell_image;

enum { SHELL_PAGE_BYTES = 4096 };

/* An immutable list of pages, shared by the sandboxes that were forked from
 * each other; the pages are shared between lists. The counts are atomic. */
struct shell_pages;

/* NULL, the list of a shell that has never run, is fine everywhere. */
struct shell_pages *shell_pages_get(struct shell_pages *p);
void shell_pages_put(OWN struct shell_pages *p);
/* The bytes of memory that it describes; 0 for NULL. */
uint64_t shell_pages_size(const struct shell_pages *p);

/* The state of `memory` as a new list; pages that are as in `last` are taken
 * from there. -ENOMEM. */
int shell_pages_take(const struct shell_pages *last,
                     const struct shell_image *image, const uint8_t *memory,
                     uint64_t size, OWN struct shell_pages **ret);
/* The bytes of the pages that p has and `other` has not. */
uint64_t shell_pages_lost(const struct shell_pages *p,
                          const struct shell_pages *other);
/* How many there are; the i-th, and the index of its place in memory. */
size_t shell_pages_n(const struct shell_pages *p);
const uint8_t *shell_pages_at(const struct shell_pages *p, size_t i,
                              uint32_t *ret_index);
/* A list of given pages: empty, and one more, at a larger index than those
 * before. -ENOMEM. */
int shell_pages_new(uint64_t size, OWN struct shell_pages **ret);
int shell_pages_add(struct shell_pages *p, uint32_t index,
                    const uint8_t *bytes);
/* Lays the pages into the memory of a new instance. */
void shell_pages_lay(const struct shell_pages *p, uint8_t *memory);

#endif

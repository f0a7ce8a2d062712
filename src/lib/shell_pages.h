/* The memory of a shell between commands: the pages that differ from the image
 * every shell starts with. */
#ifndef LIB_SHELL_PAGES_H
#define LIB_SHELL_PAGES_H

#include "base/own.h"
#include "base/record.h"

#include <stddef.h>
#include <stdint.h>

struct shell_image;

enum { SHELL_PAGE_BYTES = RECORD_PAGE_BYTES };

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
/* Calls fn for each page that they do not have in common, in order; one is
 * NULL where there is none, and the memory is as in the image. What is not 0
 * ends it, and is returned. */
int shell_pages_diff(const struct shell_pages *a, const struct shell_pages *b,
                     int (*fn)(void *arg, uint32_t index, const uint8_t *a,
                               const uint8_t *b),
                     void *arg);
/* A list of given pages: empty, and one more, of `len` bytes and zeros after
 * them, at a larger index than those before. -EINVAL: it is not, or beyond the
 * memory; -ENOMEM. */
int shell_pages_new(uint64_t size, OWN struct shell_pages **ret);
int shell_pages_add(struct shell_pages *p, uint32_t index, const void *bytes,
                    size_t len);
/* Lays the pages into the memory of a new instance. */
void shell_pages_lay(const struct shell_pages *p, uint8_t *memory);

#endif

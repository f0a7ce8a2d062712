/* The memory of a shell between commands: the pages that differ from the image
 * every shell starts with. */
#ifndef LIB_SHELL_PAGES_H
#define LIB_SHELL_PAGES_H

#include "base/own.h"
#include "record/record.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct machine;
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
/* Brings what was recorded of a shell, the pages of `base`, up to date with
 * `now`. What has changed little in a page goes into the patch, at most `max`
 * bytes of it; fn is called for the others, in order (bytes NULL: the page is
 * as in the image again), among them those that `now` and `settled` (or NULL)
 * share. *ret is the new base. What fn says if it is not 0; -ENOMEM. */
int
shell_pages_update(const struct shell_pages *base,
                   const struct shell_pages *settled,
                   const struct shell_pages *now, size_t max,
                   int (*fn)(void *arg, uint32_t index, const uint8_t *bytes),
                   void *arg, struct buf *patch, OWN struct shell_pages **ret);
/* The base with a patch. -EINVAL: it is none; -ENOMEM. */
int shell_pages_patch(const struct shell_pages *base, const void *patch,
                      size_t len, OWN struct shell_pages **ret);
/* A list of given pages: empty, and one more, of `len` bytes and zeros after
 * them, at a larger index than those before. -EINVAL: it is not, or beyond the
 * memory; -ENOMEM. */
int shell_pages_new(uint64_t size, OWN struct shell_pages **ret);
int shell_pages_add(struct shell_pages *p, uint32_t index, const void *bytes,
                    size_t len);
/* Lays the pages into the memory of a new instance. Of a list that is laid
 * again and again, many pages in a row come from a file of the host, for which
 * nothing is copied before it is used. */
void shell_pages_lay(struct shell_pages *p, struct shell_image *image,
                     struct machine *m);

#endif

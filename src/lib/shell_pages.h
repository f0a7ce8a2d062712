/* The memory of a shell between commands: the pages that differ from the image
 * that every shell starts with. */
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

/* An immutable list of pages, shared by sandboxes that were forked from each
 * other. Lists share pages. Counts are atomic. */
struct shell_pages;

/* NULL, the list of a shell that has never run, is accepted everywhere. */
struct shell_pages *shell_pages_get(struct shell_pages *p);
void shell_pages_put(OWN struct shell_pages *p);
/* Returns the size of the described memory; 0 for NULL. */
uint64_t shell_pages_size(const struct shell_pages *p);

/* Creates a list for the state of `memory`; pages that equal those of `last`
 * are shared with it. -ENOMEM. */
int shell_pages_take(const struct shell_pages *last,
                     const struct shell_image *image, const uint8_t *memory,
                     uint64_t size, OWN struct shell_pages **ret);
/* Returns the bytes of the pages that p has and `other` does not. */
uint64_t shell_pages_lost(const struct shell_pages *p,
                          const struct shell_pages *other);
/* A change of the recorded pages of a shell. */
struct shell_pages_change {
    const struct shell_pages *base;    /* the recorded pages */
    const struct shell_pages *settled; /* or NULL, see below */
    const struct shell_pages *now;
    size_t patch_max; /* bytes of the patch */
    /* Records a page (bytes NULL: it equals the image again); not 0 ends the
     * update. */
    int (*put)(void *arg, uint32_t index, const uint8_t *bytes);
    void *arg;
};

/* Updates the recorded pages. Small changes of a page go into the patch; `put`
 * is called for the other changed pages, in order. These include pages of the
 * patch that `now` and `settled` share.
 *
 * *ret is the new base. Returns the result of `put` if it is not 0. -ENOMEM. */
int shell_pages_update(const struct shell_pages_change *c, struct buf *patch,
                       OWN struct shell_pages **ret);
/* Applies a patch to the base. -EINVAL: not a patch. -ENOMEM. */
int shell_pages_patch(const struct shell_pages *base, const void *patch,
                      size_t len, OWN struct shell_pages **ret);
/* Create a list of given pages: an empty one, and append a page of `len` bytes
 * (and zeros after them), whose index must be larger than the previous one.
 * -EINVAL: it is not, or is beyond the memory. -ENOMEM. */
int shell_pages_new(uint64_t size, OWN struct shell_pages **ret);
int shell_pages_add(struct shell_pages *p, uint32_t index, const void *bytes,
                    size_t len);
/* Copies the pages into the memory of a new instance. If a list is used
 * repeatedly, its longest part of consecutive pages is mapped from a file of
 * the host instead, copy-on-write. */
void shell_pages_restore(struct shell_pages *p, struct shell_image *image,
                         struct machine *m);

#endif

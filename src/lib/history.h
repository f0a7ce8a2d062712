/* The newest commands of a sandbox, as a value that forks and snapshots share.
 */
#ifndef LIB_HISTORY_H
#define LIB_HISTORY_H

#include "base/own.h"
#include "tree/radix.h"

#include <stddef.h>

/* Limits of the history; a command that is longer than that is omitted. */
enum { HISTORY_MAX = 1000, HISTORY_BYTES_MAX = 1 << 20 };

/* NULL is an empty history. Counts are atomic; the holder of the only reference
 * may change it. */
struct history;

/* Add and drop a reference. Both accept NULL. */
struct history *history_get(struct history *h);
void history_put(OWN struct history *h);
/* Appends a command to *h, which is copied first if it is shared. -E2BIG: it is
 * longer than a history may be. -ENOMEM. */
int history_add(struct history **h, const char *text, size_t len);

/* Appends the next command of a history that is being loaded; commands are
 * numbered in order. -EINVAL: not the next number, or too many. -ENOMEM. */
int history_load(struct history **h, uint64_t number, const char *text,
                 size_t len);
/* Like radix_diff, by number; a leaf is a command. */
void history_diff(const struct history *a, const struct history *b,
                  radix_differs *differs, void *arg);
const char *history_text(const struct shared *line);

#endif

/* The newest commands of a sandbox, as a value that forks and snapshots
 * share. */
#ifndef LIB_HISTORY_H
#define LIB_HISTORY_H

#include "base/own.h"
#include "tree/radix.h"

#include <stddef.h>

/* Both for what is kept; a command that is longer than that is not. */
enum { HISTORY_MAX = 1000, HISTORY_BYTES_MAX = 1 << 20 };

/* NULL: there are none. Counts are atomic; who has the only reference may
 * change it. */
struct history;

struct history *history_get(struct history *h);
void history_put(OWN struct history *h);
/* Adds a command to *h, which is copied if others have it. Without memory it
 * is left out. */
void history_add(struct history **h, const char *text, size_t len);

/* Commands are numbered in their order. The next of a history that is made
 * anew. -EINVAL: it is not the next, or there are too many; -ENOMEM. */
int history_load(struct history **h, uint64_t number, const char *text,
                 size_t len);
/* By number, as radix_diff; a leaf is a command. */
void history_diff(const struct history *a, const struct history *b,
                  radix_differs *differs, void *arg);
const char *history_text(const struct shared *line);

#endif

/* The newest commands of a sandbox, as a value that forks and snapshots
 * share. */
#ifndef LIB_HISTORY_H
#define LIB_HISTORY_H

#include "base/own.h"

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
/* How many there are, and the i-th, the oldest first. */
size_t history_n(const struct history *h);
const char *history_at(const struct history *h, size_t i);
size_t history_bytes(const struct history *h); /* with a NUL after each */

#endif

/* The check of one session's records, for fsck and for the repair at resume.
 *
 * A check reports each finding through the callback of its owner. With
 * `repair`, it also removes or replaces the damaged records, in the transaction
 * of the check itself. */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

#include "store/store_impl.h"

/* The results of chunks that this fsck has verified already, two bits for each
 * number. Sessions share chunks, so without this memory a chunk would be read
 * and hashed once for each session that uses it. */
struct checked {
    uint8_t *bits;
    size_t n; /* chunks with a lower number; 0: nothing is recorded */
};
enum { CHUNK_UNKNOWN, CHUNK_WHOLE, CHUNK_DAMAGED };

/* One run of fsck or store_repair over one or all sessions. Everything that it
 * points to is borrowed from the caller. */
struct check {
    struct store *s;
    bool repair;
    /* With `repair`: a session whose records may come from two commits keeps
     * them. Only fsck sets this, because an operator asked for it. */
    bool accepts; /* with `repair`: accept records of two commits */
    store_finding_fn *fn;
    void *arg;
    /* NULL if only one session is checked. */
    struct checked *checked;
    int n_found;
};

/* Counts a finding and passes it to the callback. `session` and `path` may be
 * "". */
void check_report(struct check *c, const char *session, const char *path,
                  const char *what, bool is_repaired);
/* Checks all records of the session `id` and, with `repair`, commits the
 * repairs. Findings are counted in n_found. A negative result means that the
 * session could not be checked; nothing was repaired then. */
int check_session(struct check *c, const char *id);

#endif

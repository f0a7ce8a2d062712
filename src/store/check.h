/* The check of one session's records. */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

#include "store/store_impl.h"

/* Chunks that were looked at already: two bits for each number. */
struct checked {
    uint8_t *bits;
    size_t n; /* chunks with a number below this; 0: nothing is remembered */
};
enum { CHUNK_UNKNOWN, CHUNK_WHOLE, CHUNK_DAMAGED };

struct check {
    struct store *s;
    bool repair;
    bool accepts; /* with `repair`: also what may be of two commits */
    store_finding_fn *fn;
    void *arg;
    struct checked *checked;
    int n_found;
};

/* `session` and `path` may be "". */
void check_report(struct check *c, const char *session, const char *path,
                  const char *what, bool is_repaired);
/* Counts in n_found what it finds. An error: it could not be checked. */
int check_session(struct check *c, const char *id);

#endif

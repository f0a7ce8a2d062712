/* The check of one session's records. */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

#include "store/store_impl.h"

/* Chunks that were checked already: two bits for each number. */
struct checked {
    uint8_t *bits;
    size_t n; /* chunks with a lower number; 0: nothing is recorded */
};
enum { CHUNK_UNKNOWN, CHUNK_WHOLE, CHUNK_DAMAGED };

struct check {
    struct store *s;
    bool repair;
    bool accepts; /* with `repair`: accept records of two commits */
    store_finding_fn *fn;
    void *arg;
    struct checked *checked;
    int n_found;
};

/* `session` and `path` may be "". */
void check_report(struct check *c, const char *session, const char *path,
                  const char *what, bool is_repaired);
/* Counts findings in n_found. An error means that it could not be checked. */
int check_session(struct check *c, const char *id);

#endif

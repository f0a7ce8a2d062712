/* The frames that an untrusted worker sends, cut into batches for the store.
 * Here the frames are checked and the numbers of commits; what is in them, and
 * how much, is checked by store_commit. */
#ifndef STORE_STATE_CHECK_H
#define STORE_STATE_CHECK_H

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STATE_PART_BYTES = 1 << 20, /* a longer commit comes in parts */
    STATE_WHY_BYTES = 96,
};

struct state_check {
    char *p; /* whole frames, then bytes that were not looked at */
    size_t len, cap, n_whole;
    uint64_t commit;           /* the number of the last one */
    bool is_amid;              /* parts of the next one were taken */
    char why[STATE_WHY_BYTES]; /* of -EPROTO */
};

/* A batch, or part of one. */
struct state_part {
    char *frames; /* NULL: none */
    size_t len;
    uint64_t commit; /* the number; the first is 1 */
    bool is_first, is_last;
};

/* All zero is one that is ready. */
void state_check_fini(struct state_check *c);
/* Where the next bytes can be read to, at least 4 KiB. NULL: no memory. */
char *state_check_room(struct state_check *c, size_t *ret_room);
/* `n` bytes were read there. state_check_take must follow. */
void state_check_add(struct state_check *c, size_t n);
/* 1: a part of a commit, whose frames the caller frees; to be called again.
 * 0: there is none yet. -EPROTO: `why` says what is wrong, and the worker must
 * not be heard any more. -ENOMEM. */
int state_check_take(struct state_check *c, OWN struct state_part *ret);

#endif

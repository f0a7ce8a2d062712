/* Cuts the frames of an untrusted worker into batches for the store. This file
 * checks frames and the numbers of commits; store_commit checks the contents
 * and quotas. */
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

/* The stream of one worker. Owns its buffer. */
struct state_check {
    char *p; /* whole frames, then unchecked bytes */
    size_t len, cap, n_whole;
    uint64_t commit;           /* the number of the last one */
    bool is_amid;              /* parts of the next commit were accepted */
    char why[STATE_WHY_BYTES]; /* of -EPROTO */
};

/* A batch, or part of one. */
struct state_part {
    char *frames; /* NULL: none */
    size_t len;
    uint64_t commit; /* the number; the first is 1 */
    bool is_first, is_last;
};

/* All zero is a valid initial state. */
void state_check_fini(struct state_check *c);
/* Returns space for the next bytes, at least 4 KiB. NULL: no memory. */
char *state_check_room(struct state_check *c, size_t *ret_room);
/* `n` bytes were read into that space. state_check_take must follow. */
void state_check_add(struct state_check *c, size_t n);
/* Returns 1 and a part of a commit, whose frames the caller frees; must be
 * called again. 0: no part yet. -EPROTO: `why` contains the reason, and nothing
 * more must be read from the worker. -ENOMEM. */
int state_check_take(struct state_check *c, OWN struct state_part *ret);

#endif

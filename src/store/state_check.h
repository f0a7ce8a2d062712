/* The records that an untrusted worker sends, cut into batches for the store.
 * Every frame is checked for its form before it is passed on; amounts are
 * checked by store_commit. */
#ifndef STORE_STATE_CHECK_H
#define STORE_STATE_CHECK_H

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATE_PART_BYTES = 1 << 20 }; /* a longer commit comes in parts */

struct state_check {
    char *p; /* frames that were checked, then bytes that were not */
    size_t len, cap, n_checked;
    uint64_t commit; /* the number of the one that is complete, or under way */
    bool is_last;    /* what was checked is the end of a commit */
    char why[96];    /* of -EPROTO */
};

/* Frames of one batch; freed by who took them. */
struct state_part {
    char *frames;
    size_t len;
    uint64_t commit;
    bool is_last;
};

void state_check_init(struct state_check *c);
void state_check_fini(struct state_check *c);
/* Where the next bytes can be read to, at least 4 KiB. NULL: no memory. */
char *state_check_room(struct state_check *c, size_t *ret_room);
/* `n` bytes were read there. -EPROTO: `why` says what is wrong, and the worker
 * must not be heard any more. */
int state_check_add(struct state_check *c, size_t n);
/* To be called after each add until it says 0: 1 and the next part of a
 * commit. -EPROTO as above, -ENOMEM. */
int state_check_take(struct state_check *c, OWN struct state_part *ret);
/* Bytes came of a commit whose end has not: store_discard is due if the worker
 * is gone. */
bool state_check_is_amid(const struct state_check *c);

#endif

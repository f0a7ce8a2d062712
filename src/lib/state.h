/* States of sandboxes as records: snapshots, what changes between two of them,
 * and back. */
#ifndef LIB_STATE_H
#define LIB_STATE_H

#include "lib/snapshot.h"
#include "record/record.h"

/* Which root image, and which program of the shell; of none, zeros. */
void state_image_hash(struct wsand_runtime *rt, uint8_t ret[32]);
void state_module_hash(struct wsand_runtime *rt, uint8_t ret[32]);

/* Is the n-th mount (0: the root), whose files are m, part of the state? What
 * is read-only is the same in any sandbox with these mounts. */
bool state_has_mount(const struct wsand_sandbox *sb, size_t n);
/* What its files are recorded over: the root image's, or `empty`. */
const struct tree *state_base(const struct wsand_sandbox *sb, size_t n,
                              const struct tree *empty);

/* state_save.c: sends what makes the records of `last` (NULL: none) those of
 * `now`, whose base is set; where there is no last, in the order of their
 * types. What the sink says; -ENOMEM. */
int state_send(struct wsand_sandbox *sb, const struct snapshot *last,
               struct snapshot *now, const struct record_sink *to);
int state_send_fact(const struct record_sink *to, enum record_fact fact,
                    const void *value, size_t len);
/* Is the shell in both the same? */
bool state_is_same_shell(const struct snapshot *a, const struct snapshot *b);

struct wsand_sandbox *state_sandbox(const struct wsand_state *st);
/* state_load.c: the snapshot that the records of st are. has_other_module: its
 * shell cannot be thawed. */
int state_end(struct wsand_state *st, OWN struct snapshot **ret,
              struct wsand_error *err);
/* The fact of that name; NULL: none. */
const char *state_script(const struct wsand_state *st);

#endif

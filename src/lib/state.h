/* States of sandboxes as records: saving snapshots and their differences, and
 * loading them.
 *
 * state_save.c writes records and state_load.c reads them. record/record.h is
 * their format, and state.c contains the public functions. */
#ifndef LIB_STATE_H
#define LIB_STATE_H

#include "lib/snapshot.h"
#include "record/record.h"

/* The hashes of the root image and of the shell's program; zeros for none. */
void state_image_hash(struct root_image *i, uint8_t ret[32]);
void state_module_hash(struct root_image *i, uint8_t ret[32]);

/* True if the n-th mount (0: the root) is part of the state.
 * Read-only mounts are the same in any sandbox with these mounts. */
bool state_has_mount(const struct wsand_sandbox *sb, size_t n);
/* Returns the base that the files are recorded against: the root image, or
 * `empty`. */
const struct tree *state_base(const struct wsand_sandbox *sb, size_t n,
                              const struct tree *empty);

/* state_save.c: sends the changes from the records of `last` (NULL: none) to
 * those of `now`, whose base is set. Without `last`, they come in the order of
 * their types. Returns the result of the sink, or -ENOMEM. */
int state_send(struct wsand_sandbox *sb, const struct snapshot *last,
               struct snapshot *now, const struct record_sink *to);
int state_send_fact(const struct record_sink *to, enum record_fact fact,
                    const void *value, size_t len);
/* True if both snapshots have the same shell. */
bool state_is_same_shell(const struct snapshot *a, const struct snapshot *b);

/* Returns the sandbox that the state is for. */
struct wsand_sandbox *state_sandbox(const struct wsand_state *st);
/* state_load.c: creates the snapshot that the records of st describe.
 * has_other_module: its shell cannot be used. */
int state_end(struct wsand_state *st, OWN struct snapshot **ret,
              struct wsand_error *err);
/* Returns the fact "script", or NULL. */
const char *state_script(const struct wsand_state *st);

#endif

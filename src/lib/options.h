/* The options of a sandbox, as its own copies.
 *
 * A sandbox keeps its options for forks, for status, and to repeat mounts in
 * the same order. */
#ifndef LIB_OPTIONS_H
#define LIB_OPTIONS_H

#include "wasmsand.h"

/* Copies the options, except programs and the files of mounts. -ENOMEM; *to
 * must be freed with options_fini in any case. */
int options_copy(struct wsand_options *to, const struct wsand_options *from);
void options_fini(struct wsand_options *o);
/* Copies a NULL-terminated list of rules, or NULL, as the network of empty
 * options. -ENOMEM: as options_copy. */
int options_copy_network(struct wsand_options *to, const char *const *rules);
/* Exchanges the rules of two options. */
void options_swap_network(struct wsand_options *a, struct wsand_options *b);
/* Append a copy of a mount (-ENOMEM), and remove the last one. */
int options_add_mount(struct wsand_options *o, const struct wsand_mount *m);
void options_drop_mount(struct wsand_options *o); /* the last */

#endif

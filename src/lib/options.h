/* The options of a sandbox, as its own copies. */
#ifndef LIB_OPTIONS_H
#define LIB_OPTIONS_H

#include "wasmsand.h"

/* Programs, and the files of mounts, are not copied. */
int options_copy(struct wsand_options *to, const struct wsand_options *from);
void options_fini(struct wsand_options *o);
int options_add_mount(struct wsand_options *o, const struct wsand_mount *m);
void options_drop_mount(struct wsand_options *o); /* the last */

#endif

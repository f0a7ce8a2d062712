/* The owners of compiled code that is executed. */
#ifndef SUPERVISOR_CODE_OWNER_H
#define SUPERVISOR_CODE_OWNER_H

#include <stdbool.h>

/* Returns whether the folder and all its files belong to us or root, and nobody
 * else can write to them.
 *
 * A worker checks this itself if it can see root. The worker of a supervisor
 * without privileges is in a user namespace with one user, and sees the files
 * of all others as those of nobody. */
bool code_owner_is_trusted(const char *dir);

#endif

/* Functions of the host that are commands inside. */
#ifndef LIB_CALL_H
#define LIB_CALL_H

#include "wasmsand.h"

#include "base/own.h"

#include <stdint.h>

struct hostcall;
struct task;
struct tree;

/* Puts the commands of the options into a tree, as programs. -ENOEXEC: the root
 * image has no program for them. */
int commands_put(struct tree *t, const struct wsand_options *o, int64_t now_ns,
                 struct wsand_error *err);
/* -EINVAL: a command has no function, or an invalid name. */
int commands_check(const struct wsand_options *o, struct wsand_error *err);
/* Copies the list; functions and their arguments are shared. */
int commands_copy(struct wsand_options *to, const struct wsand_options *from);
void commands_free(struct wsand_options *o);
/* Implements kernel->host_call for a sandbox. */
int call_begin_command(void *arg, struct task *t, const void *in, size_t len,
                       OWN struct hostcall **ret);

#endif

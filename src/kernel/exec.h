/* exec with arguments from guest memory. */
#ifndef KERNEL_EXEC_H
#define KERNEL_EXEC_H

#include "kernel/machine.h"

#include <stdbool.h>

struct kernel;
struct task;
struct vnode;

/* Implements execve(2). On success the thread of t leaves its program; for a
 * vfork child, 0 is returned to the parent's code. */
int64_t task_exec_from_guest(struct task *t, const struct vnode *base,
                             const char *path, gaddr argv, gaddr envp);

/* --- exec_policy.c */

/* True if it is a file of the root image, or a program that the host put there,
 * with its original content. */
bool exec_is_given(const struct kernel *k, const struct vnode *v);

/* A file that is about to be executed. */
struct exec_file {
    const char *path;
    const struct vnode *base, *node; /* where path starts, and leads to */
    const char *argv0;
    bool is_script; /* begins with #! */
};
/* Checks kernel.allow_tools, if it is not NULL. Returns 1 if the file may run,
 * and 0 for a script of the guest, which may run if its interpreter may.
 * -EACCES, which is recorded as denied by policy. */
int exec_check_policy(struct task *t, const struct exec_file *f);

#endif

/* exec with arguments from guest memory. */
#ifndef KERNEL_EXEC_H
#define KERNEL_EXEC_H

#include "kernel/machine.h"

#include <stdbool.h>

struct kernel;
struct task;
struct vnode;

/* As execve(2). On success the thread of t leaves its program; for a vfork
 * child, 0 goes back to the parent's code. */
int64_t exec_from_guest(struct task *t, const struct vnode *base,
                        const char *path, gaddr argv, gaddr envp);

/* --- exec_policy.c */

/* Is it a file of the root image, or a program that the host has put there,
 * with the content it had then? */
bool exec_is_given(const struct kernel *k, const struct vnode *v);

/* A file that is about to be run. */
struct exec_file {
    const char *path;
    const struct vnode *base, *node; /* where path begins, and leads */
    const char *argv0;
    bool is_script; /* it begins with #! */
};
/* Where kernel.allow_tools is not NULL. 1: it may be run; 0: a script of the
 * guest's, which may be run if its interpreter may; -EACCES, which is noted as
 * denied by policy. */
int exec_check_policy(struct task *t, const struct exec_file *f);

#endif

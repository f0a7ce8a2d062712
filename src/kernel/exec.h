/* exec with arguments from guest memory. */
#ifndef KERNEL_EXEC_H
#define KERNEL_EXEC_H

#include "kernel/machine.h"

struct task;
struct vnode;

/* As execve(2). On success the thread of t leaves its program; for a vfork
 * child, 0 goes back to the parent's code. */
int64_t exec_from_guest(struct task *t, const struct vnode *base,
                        const char *path, gaddr argv, gaddr envp);

#endif

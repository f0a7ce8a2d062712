/* Processes as files: pidfd_open(2). */
#ifndef KERNEL_PIDFD_H
#define KERNEL_PIDFD_H

#include "base/own.h"

#include <stdint.h>

struct file;
struct task;

/* Creates a file that represents t and becomes readable when t has ended.
 * flags: O_NONBLOCK. */
int pidfd_new(struct task *t, uint32_t flags, OWN struct file **ret);
/* Returns the process of f. -EBADF: f represents none. -ESRCH: it was reaped.
 */
int pidfd_task(const struct file *f, struct task **ret);
/* Like pidfd_task, but also accepts a process's folder in /proc. */
int pidfd_task_or_folder(const struct file *f, struct task **ret);
/* Wakes waiters after t has ended. */
void pidfd_ended(struct task *t);
/* Called before t is freed. */
void pidfd_forget(struct task *t);

#endif

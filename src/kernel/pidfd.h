/* Processes as files: pidfd_open(2). */
#ifndef KERNEL_PIDFD_H
#define KERNEL_PIDFD_H

#include "base/own.h"

#include <stdint.h>

struct file;
struct task;

/* A file that stands for t and is readable once t has ended. flags:
 * O_NONBLOCK. */
int pidfd_new(struct task *t, uint32_t flags, OWN struct file **ret);
/* The process of f. -EBADF: f stands for none; -ESRCH: its status was taken. */
int pidfd_task(const struct file *f, struct task **ret);
/* As pidfd_task; a process's folder in /proc stands for it too. */
int pidfd_task_or_folder(const struct file *f, struct task **ret);
/* t has ended: wakes those who wait for that. */
void pidfd_ended(struct task *t);
/* t is about to be freed. */
void pidfd_forget(struct task *t);

#endif

/* FIFOs: pipes that are found by an inode. */
#ifndef KERNEL_FIFO_H
#define KERNEL_FIFO_H

#include "base/own.h"

#include <stdint.h>

struct file;
struct kernel;
struct task;
struct vnode;

/* Opens the FIFO v like Linux: readers and writers wait for each other
 * (-EWAIT), a writer that may not wait gets -ENXIO, and O_RDWR never waits. A
 * waiting opener already counts for the other side. The caller sets the node of
 * the file. */
int fifo_open(struct kernel *k, struct task *t, const struct vnode *v,
              uint32_t flags, OWN struct file **ret);

#endif

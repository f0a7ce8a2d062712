/* FIFOs: pipes that are found by an inode. */
#ifndef KERNEL_FIFO_H
#define KERNEL_FIFO_H

#include "base/own.h"

#include <stdint.h>

struct file;
struct kernel;
struct task;
struct vnode;

/* Opens the FIFO that v is, as Linux does: readers and writers wait for each
 * other (-EWAIT), -ENXIO for a writer that may not, O_RDWR never waits. An
 * opener that waits is already counted for the other side. The caller sets
 * the node of the file. */
int fifo_open(struct kernel *k, struct task *t, const struct vnode *v,
              uint32_t flags, OWN struct file **ret);

#endif

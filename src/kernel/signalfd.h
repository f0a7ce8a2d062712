/* Signals as files: signalfd(2). A read returns the signals of the reading
 * task, whichever task created the file. */
#ifndef KERNEL_SIGNALFD_H
#define KERNEL_SIGNALFD_H

#include "base/own.h"

#include <stdint.h>

struct file;
struct task;

/* Creates a file for the signals in `set`. flags: O_NONBLOCK. */
int signalfd_new(struct task *t, uint64_t set, uint32_t flags,
                 OWN struct file **ret);
/* Changes the accepted signals; -EINVAL if f is not a signalfd. */
int signalfd_set(struct file *f, uint64_t set);

#endif

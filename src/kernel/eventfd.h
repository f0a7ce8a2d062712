/* Event counters as files: eventfd(2). */
#ifndef KERNEL_EVENTFD_H
#define KERNEL_EVENTFD_H

#include "base/own.h"

#include <stdbool.h>
#include <stdint.h>

struct file;
struct kernel;

/* flags: O_NONBLOCK. With is_semaphore a read subtracts one, otherwise all. */
int eventfd_new(struct kernel *k, uint64_t count, bool is_semaphore,
                uint32_t flags, OWN struct file **ret);

/* Returns true if f is an event counter. */
bool eventfd_is(const struct file *f);

#endif

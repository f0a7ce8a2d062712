/* Timers as files: timerfd_create(2). Times are in nanoseconds. */
#ifndef KERNEL_TIMERFD_H
#define KERNEL_TIMERFD_H

#include "base/own.h"

#include <stdbool.h>
#include <stdint.h>

struct file;
struct kernel;

/* The setting of a timer. */
struct timerfd_spec {
    int64_t interval_ns; /* 0: fires once */
    int64_t value_ns;    /* until it fires next; 0: disarmed */
};

/* is_real: absolute times refer to the real-time clock, otherwise monotonic. */
int timerfd_new(struct kernel *k, bool is_real, uint32_t flags,
                OWN struct file **ret);
/* -EINVAL if f is not a timerfd. `old` is the previous setting. */
int timerfd_set(struct file *f, bool is_absolute,
                const struct timerfd_spec *spec, struct timerfd_spec *old);
int timerfd_get(struct file *f, struct timerfd_spec *ret);

#endif

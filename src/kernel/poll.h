/* Waiting for several files: poll, select and their variants. */
#ifndef KERNEL_POLL_H
#define KERNEL_POLL_H

#include "kernel/machine.h"

#include <stdbool.h>
#include <stdint.h>

struct task;

/* Returns the deadline of a call with this timeout; NS_NEVER for a negative
 * one. */
int64_t poll_deadline(const struct task *t, int64_t timeout_ns);

/* True if the deadline has passed. If not, the thread is woken at that time. */
bool poll_is_over(struct task *t, int64_t deadline_ns);

/* Implements poll(2) on `n` struct pollfd at `at`: returns the number with
 * events, 0 after the deadline, -EWAIT, -EFAULT, -EINVAL. */
int64_t poll_wait_fds(struct task *t, gaddr at, uint32_t n,
                      int64_t deadline_ns);

/* Implements select(2) on the sets (of 32-bit words) at sets[0] to [2] (0:
 * none). */
int64_t poll_wait_sets(struct task *t, int32_t n, const gaddr sets[3],
                       int64_t deadline_ns);

/* Restores the mask of before signals_swap_mask, unless r is -EWAIT. Returns
 * r. */
int64_t poll_mask_end(struct task *t, int64_t r);

#endif

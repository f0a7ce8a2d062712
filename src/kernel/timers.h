/* Timers of a task: alarm, setitimer, and limits on CPU time. */
#ifndef KERNEL_TIMERS_H
#define KERNEL_TIMERS_H

#include <stdint.h>

struct task;

void timers_init(struct task *t);
/* Stops all timers of a task that ends. An exec keeps them. */
void timers_fini(struct task *t);
/* After a time slice: sends the signals of CPU timers and RLIMIT_CPU that are
 * due. */
void timers_check_cpu(struct task *t);
/* Returns the first multiple of `interval` after `deadline` that is in the
 * future (NS_NEVER on overflow), and the number of periods passed. */
int64_t timers_next_period(int64_t deadline, int64_t interval, int64_t now,
                           int *ret_passed);

#endif

/* POSIX timers: timer_create and its kin. */
#ifndef KERNEL_POSIX_TIMERS_H
#define KERNEL_POSIX_TIMERS_H

struct task;

/* Deletes all timers of a task: at its end, and for exec. */
void posix_timers_fini(struct task *t);
/* Records the overrun for timer_getoverrun when the signal of a timer is
 * delivered. */
void posix_timers_delivered(struct task *t, int timerid, int overrun);
/* After a time slice: sends the signals of timers on CPU time that are due. */
void posix_timers_check_cpu(struct task *t);

#endif

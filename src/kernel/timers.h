/* Timers of a task: alarm, setitimer, timer_create, and limits on CPU time. */
#ifndef KERNEL_TIMERS_H
#define KERNEL_TIMERS_H

struct task;

void timers_init(struct task *t);
/* Stops all timers of a task that ends. */
void timers_fini(struct task *t);
/* An exec keeps alarms and deletes the timers of timer_create. */
void timers_exec(struct task *t);
/* Records the overrun for timer_getoverrun when a POSIX timer's signal is
 * delivered. */
void timers_delivered(struct task *t, int timerid, int overrun);
/* After a time slice: sends the signals of CPU timers and RLIMIT_CPU that are
 * due. */
void timers_check_cpu(struct task *t);

#endif

/* Timers of a task: alarm, setitimer, timer_create, and limits on CPU time. */
#ifndef KERNEL_TIMERS_H
#define KERNEL_TIMERS_H

struct task;

void timers_init(struct task *t);
void timers_fini(struct task *t);
/* An exec keeps alarms and deletes what timer_create made. */
void timers_exec(struct task *t);
/* A signal of a POSIX timer reaches the task: timer_getoverrun tells of it. */
void timers_delivered(struct task *t, int timerid, int overrun);
/* After a turn: signals for CPU timers and RLIMIT_CPU that are due. */
void timers_check_cpu(struct task *t);

#endif

/* Futexes: threads wait until a word of their memory may have changed.
 *
 * A program compares and changes the word by itself, and calls the kernel only
 * to sleep and to wake: locks without contention cost no call. */
#ifndef KERNEL_FUTEX_H
#define KERNEL_FUTEX_H

#include "kernel/task.h"

void futex_init(struct futex_wait *w);
/* Wakes up to n threads that wait for the word at `at` in the memory of t, with
 * one of these bits, the oldest first. Returns their number. */
int futex_wake(struct task *t, gaddr at, int n, uint32_t bits);
/* At the end of th: marks the locks that it holds, sets its tid word to 0, and
 * wakes those that wait for either. */
void futex_on_exit(struct thread *th);

#endif

/* Guard pages below the stacks of threads.
 *
 * Problem: all memory of a program can be written to, so a stack that overflows
 * continues in the data below it.
 *
 * Idea: the page below a stack is filled with a pattern. The kernel compares it
 * in each system call of the thread, and when its time slice ends. If the
 * pattern has changed, the process ends with SIGSEGV. Neither files nor other
 * threads can see the damage, because the thread reaches both only through
 * these two places. An overflow that skips the whole page is not found, as on
 * hosts with protected pages.
 *
 * The stack of the first thread needs no guard: it begins at address 0, and an
 * access below traps. */
#ifndef KERNEL_GUARD_H
#define KERNEL_GUARD_H

#include "kernel/task.h"

/* Fills the page at `page` (0: none) of its memory, and guards it from now on.
 * -EFAULT: the page is not guest memory. */
int guard_set(struct thread *th, gaddr page);
/* Compares the page of a thread that has one. */
bool guard_compare(const struct thread *th);

/* Returns the address of the last word of the page that has changed: the first
 * one that the stack has overwritten, as it grows downwards. */
gaddr guard_broken_at(const struct thread *th);

static inline bool
guard_is_intact(const struct thread *th)
{
    return !th->guard || guard_compare(th);
}

#endif

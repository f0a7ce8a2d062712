/* Traces one line for each system call, in the format of strace(1). */
#ifndef KERNEL_STRACE_H
#define KERNEL_STRACE_H

#include <stdint.h>
#include <stdio.h>

struct syscall_row;
struct task;

/* Returns the destination for calls of t, or NULL. */
FILE *strace_of_task(const struct task *t);
void strace_enter(FILE *out, struct task *t, uint32_t nr,
                  const struct syscall_row *row, const uint32_t a[6]);
/* Adds the reason of a failure, before strace_exit. */
void strace_reason(FILE *out, const char *why);
void strace_exit(FILE *out, int64_t result);

#endif

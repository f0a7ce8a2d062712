/* One line for each system call, as strace(1) prints them. */
#ifndef KERNEL_STRACE_H
#define KERNEL_STRACE_H

#include <stdint.h>
#include <stdio.h>

struct syscall_row;
struct task;

/* Where the calls of t go; NULL: nowhere. */
FILE *strace_of_task(const struct task *t);
void strace_enter(FILE *out, struct task *t, uint32_t nr,
                  const struct syscall_row *row, const uint32_t a[6]);
/* Why the call fails, before strace_exit. */
void strace_reason(FILE *out, const char *why);
void strace_exit(FILE *out, int64_t result);

#endif

/* Traces one line for each system call, in the format of strace(1). */
#ifndef KERNEL_STRACE_H
#define KERNEL_STRACE_H

#include "base/host.h"

#include <stdint.h>

struct syscall_row;
struct task;

/* Writes text to a trace; printf cuts it at 255 bytes. */
void strace_puts(struct host_sink *out, const char *text);
void strace_printf(struct host_sink *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the destination for calls of t, or NULL. */
struct host_sink *strace_of_task(const struct task *t);
/* Writes the name and the arguments of a call, without the end of the line. */
void strace_enter(struct host_sink *out, struct task *t, uint32_t nr,
                  const struct syscall_row *row, const uint32_t a[6]);
/* Adds the reason of a failure, before strace_exit. */
void strace_reason(struct host_sink *out, const char *why);
/* Writes the result and ends the line. */
void strace_exit(struct host_sink *out, int64_t result);
/* Returns the name of an error number, "EPERM" of 1, or NULL. */
const char *strace_errno_name(int64_t e);

#endif

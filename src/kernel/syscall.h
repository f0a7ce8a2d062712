/* System calls: one row for each in syscalls.def, one handler for each in
 * sys_*.c. */
#ifndef KERNEL_SYSCALL_H
#define KERNEL_SYSCALL_H

#include "kernel/machine.h"

#include <stdint.h>

struct task;
struct thread;

/* An argument in the form that the handler expects. */
union sysarg {
    int32_t i;
    uint32_t u;
    gaddr addr;
};

/* Joins the two words of a 64-bit argument. */
static inline uint64_t
sysarg_u64(const union sysarg *a)
{
    return a[0].u | (uint64_t)a[1].u << 32;
}

/* Returns >= 0, -errno, or -EWAIT after adding the thread to wait queues. */
typedef int64_t syscall_fn(struct task *t, const union sysarg *a);

enum support {
    FULL,    /* as Linux */
    PARTIAL, /* the row names the missing part */
    ACCEPTED /* succeeds (or fails as the row says) without effect */
};

/* A row of syscalls.def. `args` has a letter for each argument (see
 * strace.c). */
struct syscall_row {
    const char *name, *args, *missing;
    syscall_fn *fn;
    enum support support;
};

#define SYSCALL_MAX 1080

/* Begin and end each try of a call, for both ABIs (thread.c). `nr` is its
 * number, or CALL_WASI and its row. thread_call_end returns the answer for the
 * call of task t, whose handler returned r. The handler may have moved the
 * thread to another task (vfork, exec, exit). */
#define CALL_WASI (UINT32_C(1) << 31)
void thread_call_begin(struct thread *th, uint32_t nr);
int64_t thread_call_end(struct thread *th, struct task *t, int64_t r);

/* Returns NULL if there is no such call. */
const struct syscall_row *syscall_row(uint32_t nr);
/* Checks the arguments of a call that has a row: its FLAGS (-EINVAL), and the
 * descriptor that is its first argument (-EBADF). */
int syscall_check(struct task *t, uint32_t nr, const uint32_t a[6]);

#define SYSCALL(nr, name, args, support, missing) syscall_fn sys_##name;
#include "kernel/syscalls.def"
#undef SYSCALL
/* Shared by rows of SYSCALL_AS. */
syscall_fn sys_nothing, sys_not_permitted, sys_not_supported;

#endif

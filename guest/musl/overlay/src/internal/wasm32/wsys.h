/* SPDX-License-Identifier: MIT */
/* Declarations that the files of the port share. */
#ifndef WSYS_H
#define WSYS_H

#include <features.h>
#include <signal.h>
#include <stdint.h>

#define SYS_IMPORT(name) \
    __attribute__((import_module("sys"), import_name(name)))

/* Runs the handlers of all deliverable signals. */
void __wsig_deliver(void);
extern volatile int __wsig_pending;

/* Goes back to the vfork point when this instance is in a vfork child whose
 * process has ended; returns when there is no vfork child. Weak: a program
 * that never calls vfork does not get it, nor the exception handling that
 * comes with it. */
weak void __wvfork_end(void);

/* Unmaps the stacks of detached threads that are gone. The caller has the lock
 * of the thread list. */
void __wthread_reap(void);

/* Calls a function with as many of the three arguments as it really has. The
 * result is 0 if it has none. */
long __wcall(uintptr_t func, long a, long b, long c);

/* The alternate stack of this thread, with SS_ONSTACK while it is in use and
 * SS_DISABLE if there is none. */
stack_t __waltstack(void);

/* The stack pointer of C code, a global of the program. Code that sets it must
 * set it back. */
static inline uintptr_t
__wstack_pointer(void)
{
    uintptr_t sp;

    __asm__ __volatile__(".globaltype __stack_pointer, i32\n"
                         "global.get __stack_pointer\n"
                         "local.set %0"
                         : "=r"(sp));
    return sp;
}

static inline void
__wset_stack_pointer(uintptr_t sp)
{
    __asm__ __volatile__(".globaltype __stack_pointer, i32\n"
                         "local.get %0\n"
                         "global.set __stack_pointer"
                         :
                         : "r"(sp)
                         : "memory");
}

/* The thread pointer of the thread that runs. */
extern uintptr_t __wtp;

/* Lets the thread that runs use its own thread-local variables. */
void __wtls_enter(void);

#endif

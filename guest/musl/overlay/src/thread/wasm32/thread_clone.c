/* SPDX-License-Identifier: MIT */
/* A new thread. Only pthread_create needs this object, so that only a program
 * that makes threads has the entry wasmsand_thread.
 *
 * All threads run in one instance: they share its memory and its tables. The
 * engine gives each of them a value of __stack_pointer and of __tls_base, and
 * the kernel a value of the thread pointer, which is an ordinary variable
 * (__wtp). */
#define _GNU_SOURCE
#include <sched.h>
#include "pthread_impl.h"
#include "syscall.h"
#include "wsys.h"
#include "../../mman/wasm32/pages.h"

/* Called by the engine for a new thread, on its own stack. */
__attribute__((export_name("wasmsand_thread"))) void
__wthread_start(int (*func)(void *), void *arg)
{
    __wtls_enter();
    func(arg);
    for (;;)
        __syscall(SYS_exit, 0);
}

/* The caller has the lock of the thread list. */
int
__wthread_clone(int (*func)(void *), void *stack, int flags, void *arg,
                int *parent_tid, void *tls, volatile int *child_tid)
{
    uintptr_t *start = (uintptr_t *)((uintptr_t)stack & -16ul) - 4;
    const struct pthread *t = tls;

    __wthread_reap();
    start[0] = (uintptr_t)func;
    start[1] = (uintptr_t)arg;
    /* The kernel guards the page below the stack. */
    start[2] =
        t->guard_size ? (uintptr_t)t->stack - t->stack_size - PAGE_BYTES : 0;
    return __syscall(SYS_clone, flags, start, parent_tid, tls, child_tid,
                     &__wtp);
}

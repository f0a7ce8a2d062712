/* SPDX-License-Identifier: MIT */
/* All system calls come through here.
 *
 * sys.call never blocks. A call that has to sleep returns -EWAIT, which no
 * program ever sees. We then call sys.wait, the only import that may suspend
 * this instance, and repeat the call with the same arguments. The kernel ends a
 * sys.wait when the call may now succeed, when its deadline has passed, or when
 * a signal with a handler can be delivered. The kernel keeps the deadline from
 * the first try. After a signal, the second try returns -EINTR or -ERESTARTSYS
 * and never -EWAIT, so that no signal waits for the end of another sleep.
 *
 * The kernel raises __wsig_pending when a signal with a handler waits. The
 * handler runs here, as an ordinary call, after the interrupted call and before
 * its result is given back, so it may longjmp or fork. -ERESTARTSYS means: make
 * the call again once handlers have run (SA_RESTART).
 *
 * -EVFORKGONE means: the vfork child whose calls these were has been killed,
 * and the calls are the parent's again. */
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include "pthread_impl.h"
#include "wsys.h"

#define ERESTARTSYS 512
#define EVFORKGONE  4094
#define EWAIT       4095
#define STACK_ROOM  2048 /* for a handler's own calls */

SYS_IMPORT("call")
long __wsys_call(long, long, long, long, long, long, long);
SYS_IMPORT("wait") void __wsys_wait(void);

struct wsig {
    int sig;
    uintptr_t handler;
    unsigned flags;
    unsigned old_mask[2];
    siginfo_t info;
};
SYS_IMPORT("signext") int __wsig_next(struct wsig *);

volatile int __wsig_pending;

static void
set_mask(const void *mask)
{
    long r = __wsys_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)mask, 0,
                         _NSIG / 8, 0, 0);
    if (r == -EVFORKGONE)
        __wvfork_end();
}

stack_t
__waltstack(void)
{
    stack_t alt = __pthread_self()->waltstack;

    if (!alt.ss_size)
        alt.ss_flags = SS_DISABLE;
    else if ((uintptr_t)&alt - (uintptr_t)alt.ss_sp < alt.ss_size)
        alt.ss_flags = SS_ONSTACK;
    return alt;
}

/* The mask to return to is in the context, where the handler may change it. The
 * alternate stack begins where no handler runs on it yet. */
static void
run_handler(struct wsig *w)
{
    uintptr_t sp = __wstack_pointer();
    ucontext_t context;

    memset(&context, 0, sizeof context);
    memcpy(&context.uc_sigmask, w->old_mask, sizeof w->old_mask);
    context.uc_stack = __waltstack();
    if (w->flags & SA_ONSTACK && !context.uc_stack.ss_flags)
        __wset_stack_pointer((uintptr_t)context.uc_stack.ss_sp +
                                 context.uc_stack.ss_size &
                             -16ul);
    __wcall(w->handler, w->sig, (long)&w->info, (long)&context);
    __wset_stack_pointer(sp);
    set_mask(&context.uc_sigmask);
}

void
__wsig_deliver(void)
{
    struct wsig w;
    pthread_t self = __pthread_self();
    uintptr_t low = (uintptr_t)self->stack - self->stack_size;

    if ((uintptr_t)&w - low < STACK_ROOM) /* an overflow, as anywhere else */
        *(volatile char *)UINTPTR_MAX = 0;
    while (__wsig_next(&w))
        run_handler(&w);
}

/* Called by the engine after a trap whose signal has a handler, on the stack
 * that the kernel has chosen. The frames of the program are gone, so that the
 * handler has nothing to return to: when it does, the signal ends the
 * process. */
__attribute__((export_name("wasmsand_fault"))) void
__wsig_fault(void)
{
    __wsig_deliver();
}

void
__wsig_poll(void)
{
    if (__wsig_pending)
        __wsig_deliver();
}

long
__wsys(long n, long a, long b, long c, long d, long e, long f)
{
    for (;;) {
        long r = __wsys_call(n, a, b, c, d, e, f);

        if (r == -EVFORKGONE)
            __wvfork_end();
        if (__wsig_pending)
            __wsig_deliver();
        if (r == -EWAIT)
            __wsys_wait();
        else if (r != -ERESTARTSYS)
            return r;
    }
}

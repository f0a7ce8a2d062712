/* SPDX-License-Identifier: MIT */
/* All system calls come through here.
 *
 * sys.call never blocks. A call that has to sleep returns -EWAIT, which no
 * program ever sees: we call sys.wait, the only import that may suspend this
 * instance, and make the same call again with the same arguments. The kernel
 * ends a sys.wait when the call may now succeed, when its deadline has passed
 * (it keeps the deadline from the first try), or when a signal with a handler
 * can be delivered. In the last case the second try gives -EINTR or
 * -ERESTARTSYS and never -EWAIT, so that no signal is slept over.
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
#include "wsys.h"
#include "syscall.h"

#define ERESTARTSYS 512
#define EVFORKGONE  4094
#define EWAIT       4095
#define STACK_ROOM  2048 /* for a handler's own calls */

SYS_IMPORT("call")
long __wsys_call(long, long, long, long, long, long, long);
SYS_IMPORT("wait") void __wsys_wait(void);

struct wsig {
    int sig;
    void *handler;
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

/* The mask to return to is in the context, where the handler may change it. */
static void
run_siginfo(struct wsig *w)
{
    ucontext_t context;

    memset(&context, 0, sizeof context);
    memcpy(&context.uc_sigmask, w->old_mask, sizeof w->old_mask);
    ((void (*)(int, siginfo_t *, void *))w->handler)(w->sig, &w->info,
                                                     &context);
    set_mask(&context.uc_sigmask);
}

void
__wsig_deliver(void)
{
    struct wsig w;

    if ((intptr_t)&w < STACK_ROOM) /* an overflow, as anywhere else */
        *(volatile char *)UINTPTR_MAX = 0;
    while (__wsig_next(&w)) {
        if (w.flags & SA_SIGINFO) {
            run_siginfo(&w);
        } else {
            ((void (*)(int))w.handler)(w.sig);
            set_mask(w.old_mask);
        }
    }
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

/* Handlers of traps.
 *
 * Problem: a trap ends all functions of the program that are active, so that
 * there is nothing a handler could return to.
 *
 * Idea: the machine begins anew, in an entry of the libc that calls handlers as
 * they are called after system calls (wasmsand_fault). Memory and stack pointer
 * are as the trap has left them. A handler can therefore report the error,
 * clean up and exit. If it returns, jumps, or causes another trap, the process
 * ends by the signal of the first one. On Linux, a handler that returns is
 * called again for ever. */
#include "kernel/fault.h"

#include "kernel/guard.h"
#include "kernel/kernel.h"

#include <signal.h>

/* A blocked signal of a trap ends the process, as on Linux. The resident shell
 * is restored from its checkpoint instead. */
static bool
fault_has_handler(struct thread *th, int sig)
{
    struct task *t = th->owner;
    const struct sigthread *s = thread_sig(th, t);

    return th->task == t && !t->resident && !task_is_over(t) && !th->fault &&
           sig != SIGKILL && t->sig.action[sig].handler > GUEST_SIG_IGN &&
           !(s->mask & SIG_BIT(sig));
}

/* Returns the address for si_addr. A thread whose stack has overflowed goes on
 * until it is noticed, so the first word that it overwrote is reported. */
static gaddr
fault_addr(const struct thread *th, const struct machine_trap *trap)
{
    bool has_overflown = trap->signal == SIGSEGV && !guard_is_intact(th);

    return has_overflown ? guard_broken_at(th) : trap->addr;
}

bool
fault_handle(struct thread *th, const struct machine_trap *trap)
{
    struct task *t = th->owner;
    int sig = trap->signal;
    struct siginfo_k si = {
        .signo = sig, .code = trap->code, .addr = fault_addr(th, trap)};
    const struct machine_ops *ops = th->kernel->machine;

    if (!fault_has_handler(th, sig))
        return false;
    bool on_stack = t->sig.action[sig].flags & GSA_ONSTACK;
    if (ops->fault(th->machine, on_stack ? thread_sig(th, t)->alt_end : 0) < 0)
        return false;
    thread_forget_call(th);
    thread_unwait(th);
    th->is_waiting = th->is_yielding = false;
    th->guard = 0;
    th->fault = sig;
    (void)signal_send_thread(t, th, &si);
    sched_remove(th);
    sched_queue_next(th);
    return true;
}

/* Signals as the guest sees them: the word that reports them, siginfo_t, and
 * the delivery of one to the libc, which calls its handler. */
#include "kernel/kernel.h"
#include "kernel/signal.h"

#include <signal.h>
#include <string.h>

static void
signal_put32(uint8_t *out, size_t at, uint32_t v)
{
    memcpy(out + at, &v, sizeof v);
}

/* Writes the 32-bit siginfo_t: three words, then a union by the kind of
 * signal. */
void
signal_info_to_guest(const struct siginfo_k *si, uint8_t out[128])
{
    memset(out, 0, 128);
    signal_put32(out, 0, (uint32_t)si->signo);
    signal_put32(out, 4, (uint32_t)si->errnum);
    signal_put32(out, 8, (uint32_t)si->code);
    if (si->code == SI_TIMER) {
        signal_put32(out, 12, (uint32_t)si->timerid);
        signal_put32(out, 16, (uint32_t)si->overrun);
        signal_put32(out, 20, si->value);
    } else if (si->code > 0 && si->signo == SIGCHLD) {
        signal_put32(out, 12, (uint32_t)si->pid);
        signal_put32(out, 16, si->uid);
        signal_put32(out, 20, (uint32_t)si->status);
        signal_put32(out, 24, (uint32_t)(si->utime_ms / 10));
        signal_put32(out, 28, (uint32_t)(si->stime_ms / 10));
    } else if (si->code > 0 && si->addr) {
        signal_put32(out, 12, si->addr);
    } else {
        signal_put32(out, 12, (uint32_t)si->pid);
        signal_put32(out, 16, si->uid);
        signal_put32(out, 20, si->value);
    }
}

void
thread_sigword(struct thread *th, gaddr at)
{
    th->owner->sig.word = at;
    signal_update_word(th->owner);
}

/* The record that signext stores for the libc; see guest/musl. */
struct guest_signal {
    int32_t sig;
    uint32_t handler, flags, old_mask[2];
    uint8_t info[128];
};

/* Delivers one signal: the libc gets the handler and the mask to restore, and
 * runs the handler with the new mask, which is set here. Returns 1, or 0 if
 * nothing is due. */
int32_t
thread_signext(struct thread *th, gaddr at)
{
    struct task *t = th->task;
    struct sigthread *s = task_sig(t);
    struct guest_signal g;
    struct siginfo_k si;

    if (th->leaving)
        return 0;
    signals_act(t);
    if (t->is_zombie)
        return 0;
    int sig = signal_take(t, ~s->mask, &si);
    if (!sig)
        return 0;
    struct sigaction_k *act = &t->sig.action[sig];
    uint64_t old = s->has_saved_mask ? s->saved_mask : s->mask;
    s->has_saved_mask = false;
    g = (struct guest_signal){
        .sig = sig,
        .handler = act->handler,
        .flags = act->flags,
        .old_mask = {(uint32_t)old, (uint32_t)(old >> 32)}};
    signal_info_to_guest(&si, g.info);
    uint64_t mask = s->mask | act->mask;
    if (!(act->flags & GSA_NODEFER))
        mask |= SIG_BIT(sig);
    if (act->flags & GSA_RESETHAND)
        *act = (struct sigaction_k){0};
    if (copy_to_guest(t, at, &g, sizeof g) < 0) {
        signal_act_by_default(t,
                              SIGSEGV); /* no space on its stack, as on Linux */
        return 0;
    }
    signals_set_mask(t, mask);
    return 1;
}

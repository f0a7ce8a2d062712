/* Signals: queues, masks, default actions, delivery to guest handlers.
 *
 * WebAssembly cannot be interrupted at an arbitrary instruction to run a
 * handler. A signal with a handler is therefore only queued. The kernel sets a
 * word in guest memory, which the libc checks after each system call, and wakes
 * the thread if it waits. The libc then fetches one signal after the other
 * (sys.signext) and calls the handlers. Signals without a handler need no
 * cooperation of the guest: their action is performed when they are sent.
 *
 * A waiting call that a handler interrupts ends with -EINTR, or with
 * -ERESTARTSYS if the handler has SA_RESTART and the call allows it: then the
 * libc makes it again. */
#include "kernel/signal.h"

#include "kernel/kernel.h"
#include "kernel/timers.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define UNMASKABLE (SIG_BIT(SIGKILL) | SIG_BIT(SIGSTOP))
#define STOPS \
    (SIG_BIT(SIGSTOP) | SIG_BIT(SIGTSTP) | SIG_BIT(SIGTTIN) | SIG_BIT(SIGTTOU))
#define IGNORED_BY_DEFAULT \
    (SIG_BIT(SIGCHLD) | SIG_BIT(SIGURG) | SIG_BIT(SIGWINCH) | SIG_BIT(SIGCONT))
enum { FIRST_REALTIME = 32 };

struct sigqueue {
    struct list link;
    struct siginfo_k info;
};

void
signals_init(struct signals *s)
{
    *s = (struct signals){0};
    list_init(&s->queue);
    list_init(&s->watchers);
}

/* Removes all signals of a set, queued and pending. */
static void
signal_queue_drop(struct signals *s, struct kernel *k, uint64_t set)
{
    LIST_FOR_EACH_SAFE(it, &s->queue) {
        struct sigqueue *q = CONTAINER_OF(it, struct sigqueue, link);
        if (!(set & SIG_BIT(q->info.signo)))
            continue;
        list_remove(&q->link);
        limits_uncharge(&k->limits, LIMIT_sigqueue, 1);
        free(q);
    }
    s->pending &= ~set;
}

/* Drops signals of POSIX timers, which end with their program. */
static void
signal_queue_drop_timers(struct signals *s, struct kernel *k)
{
    uint64_t dropped = 0, kept = 0;

    LIST_FOR_EACH_SAFE(it, &s->queue) {
        struct sigqueue *q = CONTAINER_OF(it, struct sigqueue, link);
        if (q->info.code != SI_TIMER) {
            kept |= SIG_BIT(q->info.signo);
            continue;
        }
        dropped |= SIG_BIT(q->info.signo);
        list_remove(&q->link);
        limits_uncharge(&k->limits, LIMIT_sigqueue, 1);
        free(q);
    }
    s->pending &= ~(dropped & ~kept);
}

void
signals_fini(struct signals *s, struct kernel *k)
{
    signal_queue_drop(s, k, ~UINT64_C(0));
    while (!list_is_empty(&s->watchers))
        list_remove(s->watchers.next);
}

/* During sigsuspend and similar calls, a child gets the mask that is restored
 * later. */
void
signals_copy(struct signals *to, const struct signals *from)
{
    signals_init(to);
    memcpy(to->action, from->action, sizeof to->action);
    to->mask = from->has_saved_mask ? from->saved_mask : from->mask;
    to->word = from->word;
}

void
signals_drop(struct task *t)
{
    signal_queue_drop(&t->sig, t->kernel, ~SIG_BIT(SIGCHLD));
}

/* Handlers are addresses in the old program; ignored signals stay ignored. */
void
signals_exec(struct task *t)
{
    struct signals *s = &t->sig;

    signal_queue_drop_timers(s, t->kernel);
    for (int sig = 1; sig <= NSIG_MAX; sig++) {
        bool ignored = s->action[sig].handler == GUEST_SIG_IGN;
        s->action[sig] = (struct sigaction_k){0};
        if (ignored)
            s->action[sig].handler = GUEST_SIG_IGN;
    }
    s->word = 0;
    s->has_saved_mask = false;
}

/* --- what a signal would do to a task */

static bool
signal_is_ignored(const struct task *t, int sig)
{
    uint32_t h = t->sig.action[sig].handler;

    if (h == GUEST_SIG_DFL)
        return IGNORED_BY_DEFAULT & SIG_BIT(sig);
    return h == GUEST_SIG_IGN;
}

static bool
signal_has_handler(const struct task *t, int sig)
{
    return t->sig.action[sig].handler > GUEST_SIG_IGN;
}

/* Performs the default action of a signal that is unmasked, has no handler and
 * is not ignored. Stop signals of the terminal do not stop an orphaned group:
 * nobody could continue it. */
static void
signal_act_by_default(struct task *t, int sig)
{
    if (!(STOPS & SIG_BIT(sig))) {
        task_exit(t, sig);
        if (!t->thread)
            task_notify(t);
        return;
    }
    if (sig != SIGSTOP && task_group_is_orphaned(t->kernel, t->pgid))
        return;
    task_stop(t, sig);
}

bool
signal_is_due(const struct task *t)
{
    return t->sig.pending & ~t->sig.mask;
}

/* A vfork child uses its parent's memory; only the task that the thread works
 * for has a word there. */
void
signal_update_word(struct task *t)
{
    struct thread *th = t->thread;

    if (!t->sig.word || !th || th->task != t || !th->machine->base)
        return;
    int32_t due = signal_is_due(t);
    (void)copy_to_guest(t, t->sig.word, &due, sizeof due);
}

/* --- sending */

/* A plain signal is pending at most once, and is never lost: without memory it
 * has no details. Real-time signals are queued each, or refused. */
static int
signal_enqueue(struct task *t, const struct siginfo_k *info)
{
    struct signals *s = &t->sig;
    int sig = info->signo;
    bool coalesces = sig < FIRST_REALTIME;

    if (coalesces && s->pending & SIG_BIT(sig))
        return 0;
    bool charged = limits_charge(&t->kernel->limits, LIMIT_sigqueue, 1);
    struct sigqueue *q = charged ? malloc(sizeof *q) : NULL;
    if (q) {
        q->info = *info;
        list_push_back(&s->queue, &q->link);
    } else {
        if (charged)
            limits_uncharge(&t->kernel->limits, LIMIT_sigqueue, 1);
        if (!coalesces)
            return -EAGAIN;
    }
    s->pending |= SIG_BIT(sig);
    return 0;
}

/* Several signalfds may watch the task; the first one that is read gets the
 * signal. */
static void
signal_tell_watchers(struct task *t, int sig)
{
    LIST_FOR_EACH_SAFE(it, &t->sig.watchers) {
        struct sigwatch *w = CONTAINER_OF(it, struct sigwatch, link);
        w->notify(w, sig);
    }
}

/* Applies the rules between stopping and continuing: the two kinds cancel each
 * other, delivered or not. Signals that arrived while the task was stopped act
 * when it continues. */
static void
signal_before_send(struct task *t, int sig)
{
    if (STOPS & SIG_BIT(sig))
        signal_queue_drop(&t->sig, t->kernel, SIG_BIT(SIGCONT));
    if (sig == SIGCONT)
        signal_queue_drop(&t->sig, t->kernel, STOPS);
    if (!t->is_stopped || (sig != SIGCONT && sig != SIGKILL))
        return;
    task_continue(t);
    if (sig == SIGCONT)
        signals_act(t);
}

/* Returns true if a default action may be performed now. A stopped task dies
 * only by SIGKILL, and sigwait takes a signal before its action. */
static bool
signal_acts_now(const struct task *t, int sig)
{
    return !signal_has_handler(t, sig) && !(t->sig.wait_set & SIG_BIT(sig)) &&
           (!t->is_stopped || STOPS & SIG_BIT(sig));
}

/* The order of the steps is that of Linux: stop and continue first, then
 * ignored signals, then default actions, then the queue. */
int
signal_send(struct task *t, const struct siginfo_k *info)
{
    int sig = info->signo;
    bool blocked = t->sig.mask & SIG_BIT(sig) & ~UNMASKABLE;

    if (task_is_over(t) || (!t->thread && !t->resident))
        return 0;
    signal_before_send(t, sig);
    if (task_is_over(t))
        return 0;
    if (!blocked && signal_is_ignored(t, sig) &&
        !(t->sig.wait_set & SIG_BIT(sig)))
        return 0;
    if (!blocked && signal_acts_now(t, sig)) {
        signal_act_by_default(t, sig);
        return 0;
    }
    int r = signal_enqueue(t, info);
    if (r < 0)
        return r;
    signal_tell_watchers(t, sig);
    signal_update_word(t);
    if (t->thread && t->thread->task == t &&
        (!blocked || t->sig.wait_set & SIG_BIT(sig)))
        thread_wake(t->thread);
    return 0;
}

/* A timer has at most one signal in the queue; further expirations are counted
 * there. */
bool
signal_add_overrun(struct task *t, int timerid, int missed)
{
    LIST_FOR_EACH(it, &t->sig.queue) {
        struct siginfo_k *si = &CONTAINER_OF(it, struct sigqueue, link)->info;
        if (si->code != SI_TIMER || si->timerid != timerid)
            continue;
        if (si->overrun < INT32_MAX - missed)
            si->overrun += missed;
        return true;
    }
    return false;
}

void
signal_send_kernel(struct task *t, int sig)
{
    struct siginfo_k si = {.signo = sig, .code = SI_KERNEL};

    (void)signal_send(t, &si);
}

/* Signal 0 only checks whether the group exists. */
int
signal_send_group(struct kernel *k, int pgid, const struct siginfo_k *si)
{
    int r = -ESRCH;

    LIST_FOR_EACH_SAFE(it, &k->tasks) {
        struct task *t = CONTAINER_OF(it, struct task, link);
        if (t->pgid != pgid)
            continue;
        r = 0;
        if (si->signo)
            (void)signal_send(t, si);
    }
    return r;
}

/* --- masks and taking */

/* Called when signals may have become deliverable: after a change of mask or
 * action. */
void
signals_act(struct task *t)
{
    struct signals *s = &t->sig;
    uint64_t due = s->pending & ~s->mask;

    for (; due && !task_is_over(t); due &= due - 1) {
        int sig = __builtin_ctzll(due) + 1;
        if (signal_has_handler(t, sig))
            continue;
        signal_queue_drop(s, t->kernel, SIG_BIT(sig));
        if (!signal_is_ignored(t, sig))
            signal_act_by_default(t, sig);
    }
    if (!t->is_zombie)
        signal_update_word(t);
}

void
signals_set_mask(struct task *t, uint64_t mask)
{
    t->sig.mask = mask & ~UNMASKABLE;
    signals_act(t);
}

/* A retry of the same call finds the mask set already. */
void
signals_swap_mask(struct task *t, uint64_t mask)
{
    struct signals *s = &t->sig;

    if (t->thread->call.is_retry)
        return;
    s->saved_mask = s->mask;
    s->has_saved_mask = true;
    signals_set_mask(t, mask);
}

/* POSIX: a pending signal that becomes ignored is discarded, even if it is
 * blocked. */
void
signal_forget_ignored(struct task *t, int sig)
{
    if (signal_is_ignored(t, sig))
        signal_queue_drop(&t->sig, t->kernel, SIG_BIT(sig));
    signals_act(t);
}

/* Lower numbers first, and the oldest entry of a number first. The pending bit
 * stays while further entries of the same signal are queued. */
int
signal_take(struct task *t, uint64_t set, struct siginfo_k *ret)
{
    uint64_t due = t->sig.pending & set;
    struct sigqueue *found = NULL;
    bool more = false;

    if (!due)
        return 0;
    int sig = __builtin_ctzll(due) + 1;
    LIST_FOR_EACH(it, &t->sig.queue) {
        struct sigqueue *q = CONTAINER_OF(it, struct sigqueue, link);
        if (q->info.signo != sig)
            continue;
        more = found != NULL;
        if (more)
            break;
        found = q;
    }
    *ret = found ? found->info : (struct siginfo_k){.signo = sig};
    if (found) {
        list_remove(&found->link);
        limits_uncharge(&t->kernel->limits, LIMIT_sigqueue, 1);
        free(found);
    }
    if (ret->code == SI_TIMER)
        timers_delivered(t, ret->timerid, ret->overrun);
    if (!more)
        t->sig.pending &= ~SIG_BIT(sig);
    signal_update_word(t);
    return sig;
}

/* The signal that will be delivered first decides about the restart. */
int
signal_interrupt(const struct task *t, bool restartable)
{
    uint64_t due = t->sig.pending & ~t->sig.mask;
    int sig = due ? __builtin_ctzll(due) + 1 : 0;

    return restartable && (t->sig.action[sig].flags & GSA_RESTART)
               ? -ERESTARTSYS
               : -EINTR;
}

/* --- the guest's view */

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
    struct signals *s = &t->sig;
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
    struct sigaction_k *act = &s->action[sig];
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

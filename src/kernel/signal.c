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
#include "kernel/posix_timers.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define UNMASKABLE (SIG_BIT(SIGKILL) | SIG_BIT(SIGSTOP))
#define STOPS \
    (SIG_BIT(SIGSTOP) | SIG_BIT(SIGTSTP) | SIG_BIT(SIGTTIN) | SIG_BIT(SIGTTOU))
#define IGNORED_BY_DEFAULT \
    (SIG_BIT(SIGCHLD) | SIG_BIT(SIGURG) | SIG_BIT(SIGWINCH) | SIG_BIT(SIGCONT))
#define ALL_SIGNALS (~UINT64_C(0))
enum { FIRST_REALTIME = 32 };

struct sigqueue {
    struct list link;
    struct siginfo_k info;
};

static void
sigpending_init(struct sigpending *p)
{
    p->set = 0;
    list_init(&p->queue);
}

/* Removes all signals of a set, queued and pending. */
static void
sigpending_remove(struct kernel *k, OWN struct sigqueue *q)
{
    list_remove(&q->link);
    limits_uncharge(&k->limits, LIMIT_sigqueue, 1);
    free(q);
}

static void
sigpending_drop(struct sigpending *p, struct kernel *k, uint64_t set)
{
    LIST_FOR_EACH_SAFE(it, &p->queue) {
        struct sigqueue *q = CONTAINER_OF(it, struct sigqueue, link);
        if (set & SIG_BIT(q->info.signo))
            sigpending_remove(k, q);
    }
    p->set &= ~set;
}

/* Drops signals of POSIX timers, which end with their program. */
static void
sigpending_drop_timers(struct sigpending *p, struct kernel *k)
{
    uint64_t dropped = 0, kept = 0;

    LIST_FOR_EACH_SAFE(it, &p->queue) {
        struct sigqueue *q = CONTAINER_OF(it, struct sigqueue, link);
        if (q->info.code != SI_TIMER) {
            kept |= SIG_BIT(q->info.signo);
            continue;
        }
        dropped |= SIG_BIT(q->info.signo);
        sigpending_remove(k, q);
    }
    p->set &= ~(dropped & ~kept);
}

void
sigthread_init(struct sigthread *s, uint64_t mask)
{
    *s = (struct sigthread){.mask = mask};
    sigpending_init(&s->pending);
}

void
sigthread_fini(struct sigthread *s, struct kernel *k)
{
    sigpending_drop(&s->pending, k, ALL_SIGNALS);
}

void
sigthread_move(struct sigthread *to, struct sigthread *from, struct kernel *k)
{
    sigthread_fini(to, k);
    sigthread_init(to, from->mask);
    to->pending.set = from->pending.set;
    while (!list_is_empty(&from->pending.queue)) {
        struct list *first = from->pending.queue.next;
        list_remove(first);
        list_push_back(&to->pending.queue, first);
    }
    sigthread_init(from, 0);
}

void
signals_init(struct signals *s)
{
    *s = (struct signals){0};
    sigpending_init(&s->pending);
    sigthread_init(&s->first, 0);
    list_init(&s->watchers);
}

void
signals_fini(struct signals *s, struct kernel *k)
{
    sigpending_drop(&s->pending, k, ALL_SIGNALS);
    sigthread_fini(&s->first, k);
    while (!list_is_empty(&s->watchers))
        list_remove(s->watchers.next);
}

/* During sigsuspend and similar calls, a child gets the mask that is restored
 * later. */
void
signals_copy(struct signals *to, struct task *from)
{
    const struct sigthread *by = task_sig(from);

    signals_init(to);
    memcpy(to->action, from->sig.action, sizeof to->action);
    to->first.mask = by->has_saved_mask ? by->saved_mask : by->mask;
    to->first.alt_end = by->alt_end;
    to->word = from->sig.word;
}

/* Of the task and of all its threads. */
static void
signals_drop_set(struct task *t, uint64_t set)
{
    sigpending_drop(&t->sig.pending, t->kernel, set);
    sigpending_drop(&t->sig.first.pending, t->kernel, set);
    TASK_FOR_EACH_THREAD(th, t)
        sigpending_drop(&thread_sig(th, t)->pending, t->kernel, set);
}

void
signals_drop(struct task *t)
{
    signals_drop_set(t, ~SIG_BIT(SIGCHLD));
}

/* Handlers are addresses in the old program; ignored signals stay ignored. */
void
signals_exec(struct task *t)
{
    struct signals *s = &t->sig;

    sigpending_drop_timers(&s->pending, t->kernel);
    sigpending_drop_timers(&s->first.pending, t->kernel);
    for (int sig = 1; sig <= NSIG_MAX; sig++) {
        bool ignored = s->action[sig].handler == GUEST_SIG_IGN;
        s->action[sig] = (struct sigaction_k){0};
        if (ignored)
            s->action[sig].handler = GUEST_SIG_IGN;
    }
    s->word = 0;
    s->first.has_saved_mask = false;
    s->first.alt_end = 0;
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

/* Stop signals of the terminal do not stop an orphaned group:
 * nobody could continue it. */
void
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

uint64_t
signals_pending(struct task *t)
{
    return t->sig.pending.set | task_sig(t)->pending.set;
}

bool
signal_is_due(struct task *t)
{
    return signals_pending(t) & ~task_sig(t)->mask;
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

/* --- sending
 *
 * A signal is for a task, or for one thread of it. Problem: a task has several
 * threads, each with a mask of its own. Idea: a signal for the task stays in
 * the queue of the task until a thread takes it. One thread that would take it
 * is woken: one that waits for it in sigtimedwait, or else the oldest that does
 * not block it. If that one blocks the signal before it takes it, or ends,
 * another one is woken (signals_hand_over). So a signal is never lost while a
 * thread could take it, and no second thread is disturbed. */

/* The limit is that of a user, and nearly all processes of a sandbox have the
 * same one. */
bool
signal_may_queue(const struct task *t)
{
    return t->kernel->limits.used[LIMIT_sigqueue] <
           t->rlimits[RLIMIT_SIGPENDING].cur;
}

/* A plain signal is pending at most once, and is never lost: without memory it
 * has no details. Real-time signals are queued each, or refused. */
static int
signal_enqueue(struct task *t, struct sigpending *p,
               const struct siginfo_k *info)
{
    struct kernel *k = t->kernel;
    int sig = info->signo;
    bool coalesces = sig < FIRST_REALTIME;

    if (coalesces && p->set & SIG_BIT(sig))
        return 0;
    bool charged =
        signal_may_queue(t) && limits_charge(&k->limits, LIMIT_sigqueue, 1);
    struct sigqueue *q = charged ? malloc(sizeof *q) : NULL;
    if (q) {
        q->info = *info;
        list_push_back(&p->queue, &q->link);
    } else {
        if (charged)
            limits_uncharge(&k->limits, LIMIT_sigqueue, 1);
        if (!coalesces)
            return -EAGAIN;
    }
    p->set |= SIG_BIT(sig);
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
        signals_drop_set(t, SIG_BIT(SIGCONT));
    if (sig == SIGCONT)
        signals_drop_set(t, STOPS);
    if (!t->is_stopped || (sig != SIGCONT && sig != SIGKILL))
        return;
    task_continue(t);
    if (sig == SIGCONT)
        signals_act(t);
}

/* The threads that may take a signal: `only`, or if NULL all of the task. */
struct takers {
    bool is_blocked;       /* by all of them */
    bool is_waited_for;    /* by one, in sigtimedwait */
    struct thread *chosen; /* or NULL */
};

static void
signal_takers_add(struct takers *w, struct task *t, struct thread *th, int sig)
{
    const struct sigthread *s = thread_sig(th, t);
    bool waits = s->wait_set & SIG_BIT(sig);
    bool takes = !(s->mask & SIG_BIT(sig) & ~UNMASKABLE);

    if ((waits && !w->is_waited_for) || (takes && !w->chosen))
        w->chosen = th->task == t ? th : w->chosen;
    w->is_waited_for |= waits;
    w->is_blocked &= !takes;
}

static struct takers
signal_takers_of(struct task *t, struct thread *only, int sig)
{
    struct takers w = {.is_blocked = true};

    if (only) {
        signal_takers_add(&w, t, only, sig);
        return w;
    }
    TASK_FOR_EACH_THREAD(th, t)
        signal_takers_add(&w, t, th, sig);
    if (!t->thread)
        w.is_blocked = t->sig.first.mask & SIG_BIT(sig) & ~UNMASKABLE;
    return w;
}

/* The order of the steps is that of Linux: stop and continue first, then
 * ignored signals, then default actions, then the queue. */
static int
signal_post(struct task *t, struct thread *only, const struct siginfo_k *info)
{
    int sig = info->signo;

    if (task_is_over(t) || (!t->thread && !t->resident))
        return 0;
    signal_before_send(t, sig);
    if (task_is_over(t))
        return 0;
    struct takers w = signal_takers_of(t, only, sig);
    if (!w.is_blocked && !w.is_waited_for && !signal_has_handler(t, sig)) {
        if (signal_is_ignored(t, sig))
            return 0;
        /* A stopped task dies only by SIGKILL. */
        if (!t->is_stopped || STOPS & SIG_BIT(sig)) {
            signal_act_by_default(t, sig);
            return 0;
        }
    }
    int r = signal_enqueue(
        t, only ? &thread_sig(only, t)->pending : &t->sig.pending, info);
    if (r < 0)
        return r;
    signal_tell_watchers(t, sig);
    signal_update_word(t);
    if (w.chosen)
        thread_wake(w.chosen);
    return 0;
}

int
signal_send(struct task *t, const struct siginfo_k *info)
{
    return signal_post(t, NULL, info);
}

int
signal_send_thread(struct task *t, struct thread *th,
                   const struct siginfo_k *info)
{
    return signal_post(t, th, info);
}

/* A timer has at most one signal in the queue; further expirations are counted
 * there. */
bool
signal_add_overrun(struct task *t, struct thread *th, int timerid, int missed)
{
    struct sigpending *p = th ? &thread_sig(th, t)->pending : &t->sig.pending;

    LIST_FOR_EACH(it, &p->queue) {
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

void
signal_send_self(struct task *t, int sig)
{
    struct siginfo_k si = {
        .signo = sig, .code = SI_USER, .pid = t->pid, .uid = t->as.cred.ruid};

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
    uint64_t due = signals_pending(t) & ~task_sig(t)->mask;

    for (; due && !task_is_over(t); due &= due - 1) {
        int sig = __builtin_ctzll(due) + 1;
        if (signal_has_handler(t, sig))
            continue;
        sigpending_drop(&t->sig.pending, t->kernel, SIG_BIT(sig));
        sigpending_drop(&task_sig(t)->pending, t->kernel, SIG_BIT(sig));
        if (!signal_is_ignored(t, sig))
            signal_act_by_default(t, sig);
    }
    if (!t->is_zombie)
        signal_update_word(t);
}

void
signals_hand_over(struct task *t, struct thread *from)
{
    uint64_t due = t->sig.pending.set;

    TASK_FOR_EACH_THREAD(th, t) {
        uint64_t taken = due & ~thread_sig(th, t)->mask;
        if (th == from || th->task != t || !taken)
            continue;
        thread_wake(th);
        due &= ~taken;
    }
}

void
signals_set_mask(struct task *t, uint64_t mask)
{
    struct sigthread *s = task_sig(t);
    bool blocks_more = t->sig.pending.set & mask & ~s->mask;

    s->mask = mask & ~UNMASKABLE;
    if (blocks_more)
        signals_hand_over(t, t->thread);
    signals_act(t);
}

/* A retry of the same call finds the mask set already. */
void
signals_swap_mask(struct task *t, uint64_t mask)
{
    struct sigthread *s = task_sig(t);

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
        signals_drop_set(t, SIG_BIT(sig));
    signals_act(t);
}

/* Removes the oldest signal of this number. It stays in the set while there is
 * another one. */
static struct siginfo_k
sigpending_take(struct sigpending *p, struct kernel *k, int sig)
{
    struct siginfo_k info = {.signo = sig};
    struct sigqueue *found = NULL;
    bool more = false;

    LIST_FOR_EACH(it, &p->queue) {
        struct sigqueue *q = CONTAINER_OF(it, struct sigqueue, link);
        if (q->info.signo != sig)
            continue;
        more = found != NULL;
        if (more)
            break;
        found = q;
    }
    if (found) {
        info = found->info;
        sigpending_remove(k, found);
    }
    if (!more)
        p->set &= ~SIG_BIT(sig);
    return info;
}

int
signal_take(struct task *t, uint64_t set, struct siginfo_k *ret)
{
    struct sigpending *p = &task_sig(t)->pending;

    if (!(p->set & set))
        p = &t->sig.pending;
    if (!(p->set & set))
        return 0;
    int sig = __builtin_ctzll(p->set & set) + 1;
    *ret = sigpending_take(p, t->kernel, sig);
    if (ret->code == SI_TIMER)
        posix_timers_delivered(t, ret->timerid, ret->overrun);
    signal_update_word(t);
    return sig;
}

/* The signal that will be delivered first decides about the restart. */
int
signal_interrupt(struct task *t, bool restartable)
{
    uint64_t due = signals_pending(t) & ~task_sig(t)->mask;
    int sig = due ? __builtin_ctzll(due) + 1 : 0;

    return restartable && (t->sig.action[sig].flags & GSA_RESTART)
               ? -ERESTARTSYS
               : -EINTR;
}

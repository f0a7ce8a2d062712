/* System calls on signals. */
#include "kernel/abi.h"
#include "kernel/kernel.h"
#include "kernel/pidfd.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum { SIGSET_BYTES = 8 };

/* --- sending */

/* Returns true if t may send this signal. A process may always continue others
 * of its session: a shell its jobs. */
static bool
sys_signal_may_send(const struct task *t, const struct task *to, int sig)
{
    return cred_may_signal(&t->as.cred, &to->as.cred) ||
           (sig == SIGCONT && t->sid == to->sid);
}

/* The sender as the receiver sees it: its real user. */
static struct siginfo_k
sys_signal_info_from(const struct task *t, int sig, int code)
{
    return (struct siginfo_k){
        .signo = sig, .code = code, .pid = t->pid, .uid = t->as.cred.ruid};
}

/* Sends to all members of a group; pgid 0: to all other processes but init.
 * -EPERM only if none of them could be signalled. */
static int64_t
sys_signal_kill_many(struct task *t, int pgid, const struct siginfo_k *si)
{
    int64_t r = -ESRCH;

    LIST_FOR_EACH_SAFE(it, &t->kernel->tasks) {
        struct task *to = CONTAINER_OF(it, struct task, link);
        bool is_meant =
            pgid ? to->pgid == pgid : to != t && to != t->kernel->init;
        if (!is_meant)
            continue;
        if (!sys_signal_may_send(t, to, si->signo)) {
            r = r == 0 ? 0 : -EPERM;
            continue;
        }
        r = 0;
        if (si->signo)
            (void)signal_send(to, si);
    }
    return r;
}

/* Signal 0 only checks whether the process exists. */
static int64_t
sys_signal_send_to(struct task *t, struct task *to, const struct siginfo_k *si)
{
    if (!to)
        return -ESRCH;
    if (to == t->kernel->init || !sys_signal_may_send(t, to, si->signo))
        return -EPERM;
    return si->signo ? signal_send(to, si) : 0;
}

/* kill(pid, sig): the number of any thread names its process. */
int64_t
sys_kill(struct task *t, const union sysarg *a)
{
    int pid = a[0].i, sig = a[1].i;
    struct siginfo_k si = sys_signal_info_from(t, sig, SI_USER);

    struct task *to = pid > 0 ? task_find_thread(t->kernel, pid) : NULL;
    if (pid == INT32_MIN || (pid > 0 && !to))
        return -ESRCH;
    if (sig < 0 || sig > NSIG_MAX)
        return -EINVAL;
    if (pid == -1)
        return sys_signal_kill_many(t, 0, &si);
    if (pid <= 0)
        return sys_signal_kill_many(t, pid ? -pid : t->pgid, &si);
    return sys_signal_send_to(t, to, &si);
}

/* To the thread `tid`, which is of the task `pid` unless that is 0. */
static int64_t
sys_signal_send_to_thread(struct task *t, int pid, int tid,
                          const struct siginfo_k *si)
{
    struct task *to =
        pid ? task_find(t->kernel, pid) : task_find_thread(t->kernel, tid);
    struct thread *th = to ? thread_find(to, tid) : NULL;

    if (!to || (!th && to->pid != tid))
        return -ESRCH;
    if (to == t->kernel->init || !sys_signal_may_send(t, to, si->signo))
        return -EPERM;
    if (!si->signo)
        return 0;
    return th ? signal_send_thread(to, th, si) : signal_send(to, si);
}

/* tkill(tid, sig) */
int64_t
sys_tkill(struct task *t, const union sysarg *a)
{
    struct siginfo_k si = sys_signal_info_from(t, a[1].i, SI_TKILL);

    if (a[0].i <= 0 || a[1].i < 0 || a[1].i > NSIG_MAX)
        return -EINVAL;
    return sys_signal_send_to_thread(t, 0, a[0].i, &si);
}

/* tgkill(tgid, tid, sig) */
int64_t
sys_tgkill(struct task *t, const union sysarg *a)
{
    struct siginfo_k si = sys_signal_info_from(t, a[2].i, SI_TKILL);

    if (a[0].i <= 0 || a[1].i <= 0 || a[2].i < 0 || a[2].i > NSIG_MAX)
        return -EINVAL;
    return sys_signal_send_to_thread(t, a[0].i, a[1].i, &si);
}

/* Reads the siginfo at `info` of a signal for `to` (NULL: gone). Only the
 * process itself may claim that the kernel sent it. */
static int
sys_signal_get_info(struct task *t, const struct task *to, int sig, gaddr info,
                    struct siginfo_k *ret)
{
    int32_t in[6];

    int r = copy_from_guest(t, in, info, sizeof in);
    if (r < 0)
        return r;
    *ret = sys_signal_info_from(t, sig, in[2]);
    ret->value = (uint32_t)in[5];
    if (to != t && (ret->code >= 0 || ret->code == SI_TKILL))
        return -EPERM;
    return sig < 0 || sig > NSIG_MAX ? -EINVAL : 0;
}

static int64_t
sys_signal_send_info(struct task *t, struct task *to, int sig, gaddr info)
{
    struct siginfo_k si;

    int r = sys_signal_get_info(t, to, sig, info, &si);
    return r < 0 ? r : sys_signal_send_to(t, to, &si);
}

/* rt_sigqueueinfo(pid, sig, siginfo) */
int64_t
sys_rt_sigqueueinfo(struct task *t, const union sysarg *a)
{
    return sys_signal_send_info(t, task_find_thread(t->kernel, a[0].i), a[1].i,
                                a[2].addr);
}

/* rt_tgsigqueueinfo(tgid, tid, sig, siginfo) */
int64_t
sys_rt_tgsigqueueinfo(struct task *t, const union sysarg *a)
{
    const struct task *to = task_find(t->kernel, a[0].i);
    struct siginfo_k si;

    if (a[0].i <= 0 || a[1].i <= 0)
        return -EINVAL;
    int r = sys_signal_get_info(t, to, a[2].i, a[3].addr, &si);
    return r < 0 ? r : sys_signal_send_to_thread(t, a[0].i, a[1].i, &si);
}

/* pidfd_send_signal(pidfd, sig, siginfo or NULL, flags) */
int64_t
sys_pidfd_send_signal(struct task *t, const union sysarg *a)
{
    struct file *f = fd_file(t, a[0].i);
    struct task *to = NULL;
    int32_t signo;

    int r = pidfd_task_or_folder(f, &to);
    if (r < 0)
        return r;
    if (!a[2].addr)
        return sys_kill(t, (union sysarg[]){{.i = to->pid}, a[1]});
    r = copy_from_guest(t, &signo, a[2].addr, sizeof signo);
    if (r < 0)
        return r;
    return signo == a[1].i ? sys_signal_send_info(t, to, a[1].i, a[2].addr)
                           : -EINVAL;
}

/* --- actions and masks */

static int
sys_signal_set_action(struct task *t, int sig, gaddr from)
{
    struct abi_sigaction in;
    struct sigaction_k *act = &t->sig.action[sig];

    int r = copy_from_guest(t, &in, from, sizeof in);
    if (r < 0)
        return r;
    if (sig == SIGKILL || sig == SIGSTOP)
        return -EINVAL;
    act->handler = in.handler;
    act->flags = in.flags;
    act->mask = in.mask[0] | (uint64_t)in.mask[1] << 32;
    if (act->handler <= GUEST_SIG_IGN)
        signal_forget_ignored(t, sig);
    return 0;
}

/* rt_sigaction(sig, new, old, size) */
int64_t
sys_rt_sigaction(struct task *t, const union sysarg *a)
{
    int sig = a[0].i;
    struct abi_sigaction out = {0};

    if (a[3].u != SIGSET_BYTES || sig < 1 || sig > NSIG_MAX)
        return -EINVAL;
    const struct sigaction_k *act = &t->sig.action[sig];
    out.handler = act->handler;
    out.flags = act->flags;
    out.mask[0] = (uint32_t)act->mask;
    out.mask[1] = (uint32_t)(act->mask >> 32);
    int r = a[1].addr ? sys_signal_set_action(t, sig, a[1].addr) : 0;
    if (r < 0 || !a[2].addr)
        return r;
    return copy_to_guest(t, a[2].addr, &out, sizeof out);
}

/* rt_sigprocmask(how, set, old, size): SIGKILL and SIGSTOP are removed
 * silently. */
int64_t
sys_rt_sigprocmask(struct task *t, const union sysarg *a)
{
    uint64_t old = task_sig(t)->mask, set;

    if (a[3].u != SIGSET_BYTES)
        return -EINVAL;
    if (a[1].addr) {
        int r = copy_from_guest(t, &set, a[1].addr, sizeof set);
        if (r < 0)
            return r;
        if (a[0].u > SIG_SETMASK)
            return -EINVAL;
        signals_set_mask(t, a[0].u == SIG_BLOCK     ? old | set
                            : a[0].u == SIG_UNBLOCK ? old & ~set
                                                    : set);
    }
    return a[2].addr ? copy_to_guest(t, a[2].addr, &old, sizeof old) : 0;
}

/* rt_sigpending(set, size) */
int64_t
sys_rt_sigpending(struct task *t, const union sysarg *a)
{
    uint64_t set = signals_pending(t) & task_sig(t)->mask;

    if (a[1].u > SIGSET_BYTES)
        return -EINVAL;
    return copy_to_guest(t, a[0].addr, &set, a[1].u);
}

/* --- waiting */

/* rt_sigsuspend(mask, size): waits with this mask until a handler has run. No
 * queue is needed, because a signal wakes the thread. */
int64_t
sys_rt_sigsuspend(struct task *t, const union sysarg *a)
{
    uint64_t mask;

    if (a[1].u != SIGSET_BYTES)
        return -EINVAL;
    int r = copy_from_guest(t, &mask, a[0].addr, sizeof mask);
    if (r < 0)
        return r;
    signals_swap_mask(t, mask);
    return -EWAIT;
}

/* rt_sigtimedwait(set, info, timeout, size): wait_set makes a signal wake the
 * thread even if it is blocked, and keeps its default action from being
 * performed. */
int64_t
sys_rt_sigtimedwait(struct task *t, const union sysarg *a)
{
    const uint64_t never = SIG_BIT(SIGKILL) | SIG_BIT(SIGSTOP);
    struct siginfo_k si;
    uint64_t set;
    int64_t ns = NS_NEVER;
    uint8_t out[128];

    if (a[3].u != SIGSET_BYTES)
        return -EINVAL;
    int r = copy_from_guest(t, &set, a[0].addr, sizeof set);
    if (r == 0 && a[2].addr)
        r = abi_get_time(t, a[2].addr, &ns);
    if (r < 0)
        return r;
    task_sig(t)->wait_set = 0;
    int sig = signal_take(t, set & ~never, &si);
    if (sig) {
        signal_info_to_guest(&si, out);
        r = a[1].addr ? copy_to_guest(t, a[1].addr, out, sizeof out) : 0;
        return r < 0 ? r : sig;
    }
    if (thread_deadline(t->thread, clock_after(&t->kernel->clock, ns)))
        return -EAGAIN;
    task_sig(t)->wait_set = set & ~never;
    return -EWAIT;
}

/* sigaltstack(new, old): the libc keeps the stack, checks it and switches to
 * it. The kernel needs it after a trap. */
int64_t
sys_sigaltstack(struct task *t, const union sysarg *a)
{
    uint32_t ss[3], none[3] = {0, SS_DISABLE, 0};

    if (a[0].addr) {
        int r = copy_from_guest(t, ss, a[0].addr, sizeof ss);
        if (r < 0)
            return r;
        task_sig(t)->alt_end = ss[1] & SS_DISABLE ? 0 : ss[0] + ss[2];
    }
    return a[1].addr ? copy_to_guest(t, a[1].addr, none, sizeof none) : 0;
}

/* restart_syscall(): never needed, the libc repeats calls itself */
int64_t
sys_restart_syscall(struct task *t, const union sysarg *a)
{
    (void)t, (void)a;
    return -EINTR;
}

/* Signals of a task: actions, masks, queues, delivery.
 *
 * Handlers run in the guest: when one is due, the kernel sets the guest's
 * signal word and the libc takes the signals with sys.signext. All default
 * actions are taken here, at once, also on a task in a tight loop. */
#ifndef KERNEL_SIGNAL_H
#define KERNEL_SIGNAL_H

#include "base/list.h"
#include "kernel/machine.h"

#include <stdbool.h>
#include <stdint.h>

struct kernel;
struct task;

#define NSIG_MAX      64
#define SIG_BIT(s)    (UINT64_C(1) << ((s)-1))
#define GUEST_SIG_DFL 0u
#define GUEST_SIG_IGN 1u
/* Guest SA_ flags (asm-generic). */
#define GSA_NOCLDSTOP 1u
#define GSA_NOCLDWAIT 2u
#define GSA_SIGINFO   4u
#define GSA_RESTART   0x10000000u
#define GSA_NODEFER   0x40000000u
#define GSA_RESETHAND 0x80000000u

struct sigaction_k {
    uint32_t handler, flags;
    uint64_t mask;
};

/* siginfo as the kernel keeps it; laid out for the guest in signal.c. */
struct siginfo_k {
    int32_t signo, code, errnum;
    int32_t pid; /* sender, or the child */
    uint32_t uid;
    int32_t status; /* SIGCHLD: exit status or signal */
    uint32_t value; /* sigqueue, timers */
    int32_t timerid, overrun;
    int64_t utime_ms, stime_ms;
    int32_t band, fd; /* SIGIO */
    uint32_t addr;    /* SIGSEGV ... */
};

struct sigqueue; /* one queued signal, in signal.c */

struct signals {
    struct sigaction_k action[NSIG_MAX + 1];
    uint64_t mask, pending;
    struct list queue;   /* of struct sigqueue, oldest first */
    uint64_t saved_mask; /* before sigsuspend, ppoll, pselect */
    bool has_saved_mask;
    uint64_t wait_set;    /* sigtimedwait: wake the thread for these too */
    gaddr word;           /* address of the guest's signal word; 0: none */
    struct list watchers; /* struct sigwatch: signalfds of this task */
};

/* Woken whenever a signal in some mask becomes pending. */
struct sigwatch {
    struct list link;
    void (*notify)(struct sigwatch *w, int sig);
};

void signals_init(struct signals *s);
void signals_fini(struct signals *s, struct kernel *k);
/* After fork: same actions and mask, nothing pending. */
void signals_copy(struct signals *to, const struct signals *from);
/* After exec: handlers become default, ignored stays; what timers sent goes. */
void signals_exec(struct task *t);
/* Forgets what is pending, but not that children have ended. */
void signals_drop(struct task *t);

/* Sends info->signo to t; never fails for plain signals, -EAGAIN when a
 * queued (real-time, sigqueue) one finds the queue full. */
int signal_send(struct task *t, const struct siginfo_k *info);
/* Is a signal of the POSIX timer `timerid` still pending? Then it notes that
 * the timer fired `missed` more times. */
bool signal_add_overrun(struct task *t, int timerid, int missed);
/* From the kernel itself (SIGPIPE, SIGCHLD without details, ...). */
void signal_send_kernel(struct task *t, int sig);
/* To every task of the process group; 0 or -ESRCH. */
int signal_send_group(struct kernel *k, int pgid, const struct siginfo_k *si);

void signals_set_mask(struct task *t, uint64_t mask);
/* Acts on what is pending, unmasked and without a handler. */
void signals_act(struct task *t);
/* Sets a mask for the length of one call (sigsuspend, ppoll, pselect); the
 * old one comes back when the call is over, or after the handler. Further
 * tries of the same call change nothing. */
void signals_swap_mask(struct task *t, uint64_t mask);
/* The action of sig became the default or "ignore": what is pending of it
 * acts or goes. */
void signal_forget_ignored(struct task *t, int sig);
/* Shows in the guest's signal word whether a handler is due. */
void signal_update_word(struct task *t);
/* Is a signal with a handler deliverable? */
bool signal_is_due(const struct task *t);
/* The lowest pending signal in `set`, taken off the queue; 0: none. */
int signal_take(struct task *t, uint64_t set, struct siginfo_k *ret);
/* -EINTR or -ERESTARTSYS, for a call that would sleep while a handler is due.
 */
int signal_interrupt(const struct task *t, bool restartable);
/* siginfo_t as the guest lays it out. */
void siginfo_to_guest(const struct siginfo_k *si, uint8_t out[128]);

#endif

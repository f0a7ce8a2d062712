/* Signals of a task: actions, masks, queues, delivery.
 *
 * Handlers run in the guest: when one is due, the kernel sets the guest's
 * signal word, and the libc fetches the signals with sys.signext. Default
 * actions are performed here, at once, also on a task in a tight loop. */
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

/* An action: handler address in the guest, or GUEST_SIG_DFL, GUEST_SIG_IGN. */
struct sigaction_k {
    uint32_t handler, flags;
    uint64_t mask;
};

/* siginfo as the kernel stores it; signal.c converts it for the guest. */
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

/* The signals of a task. `pending` has a bit for each signal with an entry in
 * the queue, and for plain signals that found no memory for one. */
struct signals {
    struct sigaction_k action[NSIG_MAX + 1];
    uint64_t mask, pending;
    struct list queue;   /* of struct sigqueue, oldest first */
    uint64_t saved_mask; /* before sigsuspend, ppoll, pselect */
    bool has_saved_mask;
    uint64_t wait_set;    /* sigtimedwait: also wake the thread for these */
    gaddr word;           /* address of the guest's signal word; 0: none */
    struct list watchers; /* struct sigwatch: signalfds of this task */
};

/* Notified of each signal that becomes pending in a task. Embedded in its
 * owner. */
struct sigwatch {
    struct list link;
    void (*notify)(struct sigwatch *w, int sig);
};

void signals_init(struct signals *s);
void signals_fini(struct signals *s, struct kernel *k);
/* After fork: the same actions and mask, and nothing pending. */
void signals_copy(struct signals *to, const struct signals *from);
/* After exec: handlers become default, ignored signals stay ignored, and
 * signals of timers are dropped. */
void signals_exec(struct task *t);
/* Drops pending signals, except SIGCHLD: the children have still ended. */
void signals_drop(struct task *t);

/* Sends info->signo to t. Never fails for plain signals; -EAGAIN if the queue
 * is full for a queued one (real-time, sigqueue). */
int signal_send(struct task *t, const struct siginfo_k *info);
/* If a signal of the POSIX timer `timerid` is still pending, adds `missed` to
 * its overruns and returns true. */
bool signal_add_overrun(struct task *t, int timerid, int missed);
/* Sends a signal from the kernel itself (SIGPIPE, SIGCHLD without details,
 * ...). */
void signal_send_kernel(struct task *t, int sig);
/* Sends to every task of the process group; 0 or -ESRCH. */
int signal_send_group(struct kernel *k, int pgid, const struct siginfo_k *si);

/* Sets the mask, without SIGKILL and SIGSTOP, and acts upon signals that it
 * unblocks. */
void signals_set_mask(struct task *t, uint64_t mask);
/* Performs the default actions of pending, unmasked signals. */
void signals_act(struct task *t);
/* Sets a mask for the duration of one call (sigsuspend, ppoll, pselect). The
 * old one is restored when the call is over, or after the handler. Further
 * tries of the same call change nothing. */
void signals_swap_mask(struct task *t, uint64_t mask);
/* After the action of sig became the default or "ignore": performs or drops
 * pending ones. */
void signal_forget_ignored(struct task *t, int sig);
/* Updates the guest's signal word: is a handler due? */
void signal_update_word(struct task *t);
/* True if a signal with a handler can be delivered. */
bool signal_is_due(const struct task *t);
/* Removes the lowest pending signal in `set` from the queue and returns it; 0:
 * none. */
int signal_take(struct task *t, uint64_t set, struct siginfo_k *ret);
/* Returns -EINTR or -ERESTARTSYS, for a call that would sleep while a handler
 * is due. */
int signal_interrupt(const struct task *t, bool restartable);
/* Converts to siginfo_t in the layout of the guest. */
void signal_info_to_guest(const struct siginfo_k *si, uint8_t out[128]);

#endif

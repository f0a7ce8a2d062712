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
struct thread;

#define NSIG_MAX      64
#define SIG_BIT(s)    (UINT64_C(1) << ((s)-1))
#define GUEST_SIG_DFL 0u
#define GUEST_SIG_IGN 1u
/* Guest SA_ flags (asm-generic). */
#define GSA_NOCLDSTOP 1u
#define GSA_NOCLDWAIT 2u
#define GSA_SIGINFO   4u
#define GSA_ONSTACK   0x08000000u
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

/* Signals that were sent and not delivered yet. `set` has a bit for each signal
 * with an entry in the queue, and for plain signals that found no memory for
 * one. */
struct sigpending {
    uint64_t set;
    struct list queue; /* of struct sigqueue, oldest first */
};

/* The signals of one thread. */
struct sigthread {
    uint64_t mask;
    struct sigpending pending; /* sent to this thread alone */
    uint64_t saved_mask;       /* before sigsuspend, ppoll, pselect */
    bool has_saved_mask;
    uint64_t wait_set; /* sigtimedwait: also wake the thread for these */
    /* The end of its alternate stack (0: none), for handlers of traps. For all
     * others, the libc switches stacks. */
    gaddr alt_end;
};

/* The signals of a task. A signal that was sent to the task is delivered to any
 * one of its threads that does not block it. */
struct signals {
    struct sigaction_k action[NSIG_MAX + 1];
    struct sigpending pending; /* sent to the task */
    /* Of the first thread. It is here, because it outlives that thread's
     * machine, and because a vfork child has it although it owns no thread. */
    struct sigthread first;
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
/* After fork: the actions of `from` and the mask of the thread that forks, and
 * nothing pending. */
void signals_copy(struct signals *to, struct task *from);
void sigthread_init(struct sigthread *s, uint64_t mask);
void sigthread_fini(struct sigthread *s, struct kernel *k);
/* Replaces the signals of `to` by those of `from`, which has none then. */
void sigthread_move(struct sigthread *to, struct sigthread *from,
                    struct kernel *k);
/* After exec: handlers become default, ignored signals stay ignored, and
 * signals of timers are dropped. */
void signals_exec(struct task *t);
/* Drops pending signals, except SIGCHLD: the children have still ended. */
void signals_drop(struct task *t);

/* Sends info->signo to t. Never fails for plain signals; -EAGAIN if the queue
 * is full for a queued one (real-time, sigqueue). */
int signal_send(struct task *t, const struct siginfo_k *info);
/* Sends to one thread of t. */
int signal_send_thread(struct task *t, struct thread *th,
                       const struct siginfo_k *info);
/* If a signal of the POSIX timer `timerid` is still pending for t, or for its
 * thread `th` if not NULL, adds `missed` to its overruns and returns true. */
bool signal_add_overrun(struct task *t, struct thread *th, int timerid,
                        int missed);
/* Returns true if RLIMIT_SIGPENDING of t allows one more queued signal. */
bool signal_may_queue(const struct task *t);
/* Sends a signal from the kernel itself (SIGALRM, SIGXCPU, ...). */
void signal_send_kernel(struct task *t, int sig);
/* Sends a signal for a mistake of t in a call (SIGPIPE, SIGXFSZ): t is the
 * sender, as on Linux. */
void signal_send_self(struct task *t, int sig);
/* Performs the default action of a signal that is unmasked, has no handler and
 * is not ignored. */
void signal_act_by_default(struct task *t, int sig);
/* Sends to every task of the process group; 0 or -ESRCH. */
int signal_send_group(struct kernel *k, int pgid, const struct siginfo_k *si);

/* Functions from here on act for the thread of t that makes a call, or made the
 * last one. */

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
/* Gives the task's pending signals that only `from` accepts to another thread.
 * Called before `from` ends. */
void signals_hand_over(struct task *t, struct thread *from);
/* Returns all pending signals, blocked or not. */
uint64_t signals_pending(struct task *t);
/* Updates the guest's signal word: is a handler due? */
void signal_update_word(struct task *t);
/* True if a signal with a handler can be delivered. */
bool signal_is_due(struct task *t);
/* Removes the lowest pending signal in `set` from the queue and returns it; 0:
 * none. */
int signal_take(struct task *t, uint64_t set, struct siginfo_k *ret);
/* Returns -EINTR or -ERESTARTSYS, for a call that would sleep while a handler
 * is due. */
int signal_interrupt(struct task *t, bool restartable);
/* Converts to siginfo_t in the layout of the guest. */
void signal_info_to_guest(const struct siginfo_k *si, uint8_t out[128]);

#endif

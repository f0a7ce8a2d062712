/* Processes (struct task) and what runs them (struct thread).
 *
 * A thread is a machine with its place in the scheduler. It makes its calls
 * for `task`, which is its owner, or after vfork the child that borrows the
 * owner's memory until it execs or exits. */
#ifndef KERNEL_TASK_H
#define KERNEL_TASK_H

#include "base/list.h"
#include "kernel/clock.h"
#include "kernel/file.h"
#include "kernel/machine.h"
#include "kernel/signal.h"
#include "kernel/vfs/vfs.h"
#include "kernel/wait.h"

#include <stdbool.h>
#include <stdint.h>

struct kernel;
struct tty;

/* --- thread */

/* Something a waiting call has done that must be taken back if the call is
 * not made again: `drop` runs when the call ends, however it ends. */
struct call_hold {
    void (*drop)(OWN struct call_hold *h);
};

/* What a call keeps from its first try to its last. */
struct call_state {
    bool is_retry;
    int64_t deadline_ns; /* of a timed call; 0: not set yet */
    uint64_t progress;   /* bytes already transferred */
    bool restartable;    /* an interrupting handler with SA_RESTART restarts */
    OWN struct call_hold *hold; /* or NULL */
};

enum leave { LEAVE_NO, LEAVE_EXIT, LEAVE_EXEC };

struct thread {
    struct kernel *kernel;
    struct task *owner, *task;
    OWN struct machine *machine;
    OWN struct program *program;
    enum leave leaving; /* set in a call: this machine is done */
    bool is_waiting;    /* in sys.wait, or about to be */
    bool is_ready;      /* woken since its last call */
    bool is_stopped;    /* by a stop signal */
    struct list run;    /* place in the run queue */
    struct call_state call;
    struct timer timer;            /* deadline of the call it waits in */
    struct thread_waiter *waiters; /* n_waiters in use, cap allocated */
    size_t n_waiters, cap_waiters;
};

/* --- task */

struct fd_entry {
    struct file *file; /* NULL: free */
    bool cloexec;
};

struct fd_table {
    struct fd_entry *v;
    size_t cap, lowest; /* no free slot below lowest */
};

struct rlimit_k {
    uint64_t cur, max;
};
#define RLIMIT_COUNT 16

struct args {
    uint32_t argc, envc;
    char *strings; /* argv then environment, NUL-terminated each */
    size_t len;
    char *exe; /* path given to execve */
};

struct usage {
    int64_t cpu_ns;
    uint64_t max_memory, switches, syscalls;
};

struct task {
    struct kernel *kernel;
    struct list link;    /* in kernel->tasks */
    struct list hash;    /* in kernel->pids */
    struct task *parent; /* NULL: init itself or a root process */
    struct list children, sibling;
    int32_t pid, pgid, sid;
    uint64_t run_tag; /* the run that started it (inherited) */
    bool is_zombie, is_stopped, is_detached, did_exec;
    /* For wait4: unreported stop or continue. */
    bool has_stop_event, has_cont_event;
    int exit_status; /* as wait4 reports it */
    int stop_signal;
    struct waitq child_events; /* its children ended, stopped, went on */

    struct thread *thread;     /* NULL once it is gone */
    struct task *vfork_parent; /* set while it borrows its thread */

    struct fd_table fds;
    struct vnode cwd, root;
    uint32_t umask;
    struct cred cred;
    struct signals sig;
    struct rlimit_k rlimits[RLIMIT_COUNT];
    struct args args;
    struct vnode exe; /* held; mnt NULL: none */
    char comm[16];
    int nice, pdeath_signal;
    struct tty *ctty;      /* controlling terminal, counted by the tty */
    uint64_t memory_bytes; /* charged for its machine */
    int64_t start_ns;
    struct usage usage, children_usage;
    struct timer itimer_real;
    int64_t itimer_interval_ns;
    struct list posix_timers;
};

/* --- guest memory: checked copies. -EFAULT outside of it. */

int copy_from_guest(struct task *t, void *dst, gaddr a, size_t len);
int copy_to_guest(struct task *t, gaddr a, const void *src, size_t len);
/* Direct access for the length of one operation; NULL outside. Must not be
 * kept across a wait or a call into the engine. len may be 0. */
void *guest_ptr(struct task *t, gaddr a, uint64_t len);
/* A NUL-terminated string of at most size-1 bytes. Returns its length;
 * -EFAULT, -ENAMETOOLONG. */
int64_t guest_string(struct task *t, gaddr a, char *buf, size_t size);

/* --- descriptors (fd.c) */

/* Borrowed, or NULL. */
struct file *fd_find(struct task *t, int fd);
/* The lowest free descriptor >= min. Takes f over, also on failure. */
int fd_install(struct task *t, OWN struct file *f, int min, bool cloexec);
int fd_install_pair(struct task *t, OWN struct file *a, OWN struct file *b,
                    bool cloexec, int32_t ret[2]);
int fd_close(struct task *t, int fd);
void fd_close_pair(struct task *t, const int32_t fds[2]);

/* --- waiting (thread.c) */

/* Puts the calling thread on q; the call should return -EWAIT then. */
void thread_wait_on(struct thread *th, struct waitq *q);
/* A poll_table that does so for all queues of a file. */
struct thread_poll {
    struct poll_table pt;
    struct thread *thread;
};
void thread_poll_init(struct thread_poll *tp, struct thread *th);
/* Sets the deadline of this call at its first try; on later tries the old
 * one stays. NS_NEVER: none. True when it has passed. */
bool thread_deadline(struct thread *th, int64_t deadline_ns);
/* Ends a wait: the thread's call is made again. */
void thread_wake(struct thread *th);
/* Wait until f is ready for `events`, as blocking I/O does: returns -EWAIT. */
int thread_wait_file(struct thread *th, struct file *f);

/* --- life (task*.c) */

int task_new(struct kernel *k, struct task *parent, OWN struct task **ret);
struct task *task_find(struct kernel *k, int pid);
/* The task ends with a wait4 status. Its thread, when it owns it, is dropped
 * by the scheduler; after that the parent is told. */
void task_exit(struct task *t, int status);

#endif

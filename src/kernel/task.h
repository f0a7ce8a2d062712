/* Processes (struct task), and the threads that run them (struct thread).
 *
 * A thread is a machine with its entry in the scheduler. It makes its calls for
 * `task`, which is its owner or, after vfork, the child that borrows the thread
 * until it execs or exits.
 *
 * The threads of a process share one memory, and one of them runs at a time.
 * Two words of that memory belong to the thread that runs: the thread pointer
 * of the libc and the signal word. thread_switch exchanges them. task->thread
 * is the thread that runs, or ran last: in a system call, it is the caller. */
#ifndef KERNEL_TASK_H
#define KERNEL_TASK_H

#include "base/list.h"
#include "kernel/clock.h"
#include "kernel/guest.h"
#include "kernel/machine.h"
#include "kernel/page_locks.h"
#include "kernel/signal.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/vfs.h"
#include "kernel/wait.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct kernel;
struct shm_map;
struct tty;

/* --- thread */

/* A side effect of a waiting call that must be undone if the call is not
 * repeated: `drop` runs when the call ends, however it ends. */
struct call_hold {
    void (*drop)(OWN struct call_hold *h);
};

/* The state of a call from its first try to its last. */
struct call_state {
    bool is_retry;
    uint32_t nr;        /* of the call: the guest may make another call next */
    uint32_t first_arg; /* in most calls the descriptor */
    /* Held while a call with that descriptor waits, if the process has other
     * threads; else NULL. */
    OWN struct file *file;
    int64_t deadline_ns; /* of a timed call; 0: not set yet */
    uint64_t progress;   /* bytes already transferred: the answer if the call is
                          * interrupted */
    uint64_t at;         /* position to continue from, not part of an answer */
    bool restartable;    /* an interrupting handler with SA_RESTART restarts */
    bool is_uninterruptible;    /* handlers run after the call */
    OWN struct call_hold *hold; /* or NULL */
};

/* Scheduling as a program sees it (sys_sched.c). */
struct sched_policy {
    int policy; /* SCHED_OTHER, ... */
    unsigned priority;
    bool resets_on_fork;
};

/* The reason why a machine must not continue after the current call. */
enum leave { LEAVE_NO, LEAVE_EXIT, LEAVE_EXEC, LEAVE_OVERFLOW };

/* A word of memory: in that of a task, or in a shared object. */
struct futex_key {
    const void *space;
    uint64_t at;
};

/* Waiting in futex(2); part of the thread, because a thread waits in one call
 * at a time. */
struct futex_wait {
    struct call_hold hold;
    struct list link; /* in a bucket of kernel->futexes */
    struct futex_key key;
    uint32_t bits;
    bool is_woken;
};

/* A thread, and the state of its machine in the scheduler.
 *
 * The flags describe where it is: is_calling inside a system call; is_waiting
 * after one that returned -EWAIT; is_ready if it was woken since. A waiting
 * thread that becomes ready is queued. */
struct thread {
    struct kernel *kernel;
    struct task *owner, *task;
    struct list sibling;  /* in owner->threads, the oldest first */
    int32_t tid;          /* pid of the owner in its first thread */
    struct sigthread sig; /* used in further threads only: see thread_sig */
    gaddr pointer;        /* thread pointer, while another thread runs */
    gaddr clear_tid;      /* set to 0 and woken when it ends; 0: nothing */
    gaddr robust_list;    /* of locks to mark when it ends; 0: none */
    int fault;            /* signal of a trap that a handler got; 0: none */
    gaddr guard;          /* page below its stack; 0: none. See guard.h */
    char comm[16];        /* name of a further thread */
    int64_t cpu_ns;       /* used by it alone */
    uint64_t switches;    /* of it alone */
    bool has_fee;         /* it counts as a process: a further thread */
    struct sched_policy policy; /* as sig: see thread_policy */
    struct futex_wait futex;
    OWN struct machine *machine;
    OWN struct program *program;
    enum leave leaving;   /* set in a call: this machine has ended */
    bool is_waiting;      /* in sys.wait, or about to be */
    bool is_ready;        /* woken since its last call */
    bool is_yielding;     /* ready, but behind all others */
    bool is_calling;      /* between thread_call_begin and thread_call_end */
    bool is_stopped;      /* by a stop signal */
    struct list run_link; /* entry in the run queue */
    uint64_t stack_bytes; /* of its machine, as charged */
    int64_t unseen_ns;    /* run time since the last stack measurement */
    struct call_state call;
    bool vfork_gone;    /* its vfork child was killed: libc must be notified */
    struct timer timer; /* deadline of the call it waits in */
    struct thread_waiter *busy, *spare; /* its entries in wait queues */
};

/* Consumes the program, also on failure. The thread is not queued. */
int thread_new(struct task *owner, OWN struct program *p,
               OWN struct thread **ret);
/* Frees it with its machine; must not be called from within its own resume. */
void thread_free(OWN struct thread *th);
/* Frees its machine and releases the memory from the limits. */
void thread_drop_machine(struct thread *th);
/* Makes another thread in the machine of `by`, which is queued. Returns its
 * tid; -EAGAIN at the limit of processes, -ENOMEM, -ENOSYS: the program has no
 * entry for threads. */
struct thread_start {
    struct machine_entry entry;
    gaddr pointer;    /* its thread pointer */
    gaddr pointer_at; /* the word that has the pointer of who runs */
    gaddr clear_tid;  /* or 0 */
    gaddr guard;      /* page below its stack, or 0 */
};
int thread_spawn(struct thread *by, const struct thread_start *s);
/* Before th runs: gives it the words of its memory that belong to it. */
void thread_switch(struct thread *th);
/* th has ended, but not its process: it leaves its last call. */
void thread_exit(struct thread *th);
/* Before exec: ends all threads of th's process but th itself, which takes over
 * the number and the signals of the first one. */
void thread_end_others(struct thread *th);
void thread_become_first(struct thread *th);
/* The thread of t with this number, or NULL. */
struct thread *thread_find(struct task *t, int tid);
/* Sets the charge for its native stack. Returns false if the memory limit does
 * not allow it. */
bool thread_charge_stack(struct thread *th, uint64_t bytes);

/* --- task */

/* A descriptor. The flag belongs to it, not to the open file. */
struct fd_entry {
    struct file *file; /* NULL: free */
    bool cloexec;
};

struct fd_table {
    struct fd_entry *v;
    size_t cap, lowest; /* no free slot below lowest */
};

/* A soft and a hard limit, as in prlimit64. */
struct rlimit_k {
    uint64_t cur, max;
};
#define RLIMIT_COUNT 16

/* The arguments and environment of a program, as one block. */
struct args {
    uint32_t argc, envc;
    char *strings; /* argv then environment, NUL-terminated each */
    size_t len;
    char *exe; /* path given to execve */
};

/* Resources used so far, for wait4 and getrusage. */
struct usage {
    int64_t cpu_ns;
    uint64_t max_memory, switches, syscalls;
};

/* Fires when a task has used this much CPU time; at_ns 0: not running. */
struct cpu_timer {
    int64_t at_ns, interval_ns;
};

/* The state of a task in an ABI on top of the kernel, for example rights of
 * descriptors in WASI. The ABI registers it by setting task->abi; exec and exit
 * free it. Embedded as the first member. */
struct abi_state {
    void (*free)(OWN struct abi_state *s);
};

static inline void
abi_state_free(OWN struct abi_state *s) /* accepts NULL */
{
    if (s)
        s->free(s);
}

/* A process.
 *
 * A task ends in two steps. A zombie has given up everything but its status,
 * which its parent reads; task_reap then frees it. A task without a thread of
 * its own is init, a zombie, a vfork child, or a parked resident. */
struct task {
    struct kernel *kernel;
    struct list link;    /* in kernel->tasks */
    struct list hash;    /* in kernel->pids */
    struct task *parent; /* NULL: init itself or a root process */
    struct list children, sibling;
    struct list reap; /* in kernel->reap_list: its status is not needed */
    struct list end;  /* in kernel->ending */
    int32_t pid, pgid, sid;
    uint64_t run_tag; /* the run that started it (inherited) */
    bool is_zombie, is_stopped, did_exec;
    /* The task ends with exit_status: when its own call is over, or after
     * another task whose end it shares. */
    bool is_ending;
    bool is_host_child; /* its status is for kernel_reap */
    /* For wait4: unreported stop or continue. */
    bool has_stop_event, has_cont_event;
    int exit_status; /* as wait4 reports it */
    int stop_signal;
    char trap[120];            /* cause of a trap, or "" */
    struct waitq child_events; /* its children ended, stopped, continued */
    struct list pidfds;        /* files that represent it: pidfd.c */

    struct thread *thread; /* that runs or ran last; NULL after all are gone */
    struct list threads;   /* that it owns */
    gaddr pointer_at;      /* where the libc has the thread pointer; 0: it has
                            * never made a second thread */
    OWN struct program *next_program; /* between execve and its start */
    struct resident *resident;        /* NULL: an ordinary task */
    struct task *vfork_parent;        /* set while it borrows its thread */

    /* State that a child inherits. exec keeps most of it: task_exec_commit
     * resets the rest. */
    struct fd_table fds;
    struct caller as; /* its rights and its root directory */
    struct vnode cwd;
    struct vnode cwd_dir; /* where cwd was found, in case it is removed */
    char cwd_name[NAME_BYTES_MAX + 1];
    uint32_t umask;
    struct signals sig;
    struct rlimit_k rlimits[RLIMIT_COUNT];
    struct args args;
    struct vnode exe;     /* held; mnt NULL: none */
    struct vnode exe_dir; /* where it was found; not held */
    char exe_name[NAME_BYTES_MAX + 1];
    char comm[16];
    int nice, pdeath_signal;
    struct sched_policy policy; /* of the first thread */
    struct page_locks locks;    /* of its memory */
    struct tty *ctty;           /* controlling terminal, counted by the tty */
    uint64_t memory_bytes;      /* charged for its machine */
    uint64_t unpaid_bytes;      /* that its machine may grow without a charge */
    struct shm_map *maps;       /* shared mappings in order of address: shm.c */
    size_t n_maps;
    int64_t start_ns;
    struct usage usage, children_usage;
    struct timer itimer_real;
    int64_t itimer_interval_ns;
    struct cpu_timer cpu_timers[2]; /* ITIMER_VIRTUAL, ITIMER_PROF */
    struct list posix_timers;
    OWN struct abi_state *abi; /* NULL: uses system calls only */
};

static inline bool
thread_is_first(const struct thread *th)
{
    return th->tid == th->owner->pid;
}

/* The name of a thread, of 16 bytes. That of the first one is its process's. */
static inline char *
thread_comm(struct thread *th)
{
    return th->task == th->owner && !thread_is_first(th) ? th->comm
                                                         : th->task->comm;
}

/* The signals of th for t, which is its owner or the vfork child. */
static inline struct sigthread *
thread_sig(struct thread *th, struct task *t)
{
    return th->owner == t && !thread_is_first(th) ? &th->sig : &t->sig.first;
}

/* The scheduling of th, likewise. */
static inline struct sched_policy *
thread_policy(struct thread *th, struct task *t)
{
    return th->owner == t && !thread_is_first(th) ? &th->policy : &t->policy;
}

/* The scheduling of a child or a new thread of a thread with `of`. A policy
 * without priorities stays. */
static inline struct sched_policy
sched_policy_of_child(struct sched_policy of)
{
    if (of.resets_on_fork && of.priority)
        return (struct sched_policy){0};
    of.resets_on_fork = false;
    return of;
}

/* The signals of the thread that makes the calls of t. */
static inline struct sigthread *
task_sig(struct task *t)
{
    return t->thread ? thread_sig(t->thread, t) : &t->sig.first;
}

static inline struct thread *
task_thread_after(const struct task *t, const struct thread *th)
{
    if (t->vfork_parent)
        return th ? NULL : t->thread;
    struct list *next = th ? th->sibling.next : t->threads.next;
    return next == &t->threads ? NULL
                               : CONTAINER_OF(next, struct thread, sibling);
}
/* All threads of t. A vfork child has the one that it borrows; its parent has
 * this one too, but th->task tells that it makes no calls for the parent. */
#define TASK_FOR_EACH_THREAD(th, t)                                  \
    for (struct thread *th = task_thread_after(t, NULL); th != NULL; \
         th = task_thread_after(t, th))

static inline bool
task_is_threaded(const struct task *t)
{
    return t->threads.next != t->threads.prev;
}

/* --- descriptors (fd.c) */

/* Returns the open file of a descriptor, borrowed, or NULL. */
struct file *fd_find(struct task *t, int fd);
/* Returns the file of an open descriptor, for example one that syscall_check
 * has found open. Borrowed. */
struct file *fd_file(struct task *t, int fd);
/* Installs f as the lowest free descriptor >= min and returns that, or -EMFILE,
 * -ENOMEM. Consumes f, also on failure. */
int fd_install(struct task *t, OWN struct file *f, int min, bool cloexec);
/* Installs two files, or none of them. Consumes both. */
int fd_install_pair(struct task *t, OWN struct file *a, OWN struct file *b,
                    bool cloexec, int32_t ret[2]);
/* Returns the descriptor that fd_install would use, still without a file. */
int fd_reserve(struct task *t, int min);
/* Makes fd refer to f and closes its previous file. Consumes f. */
int fd_replace(struct task *t, int fd, OWN struct file *f, bool cloexec);
/* Closes a descriptor. Ends the POSIX locks of t on its inode. -EBADF. */
int fd_close(struct task *t, int fd);
void fd_close_pair(struct task *t, const int32_t fds[2]);

/* Copies all descriptors, each with a reference. -ENOMEM. */
int fd_table_copy(struct fd_table *to, const struct fd_table *from);
/* Closes all descriptors, or those marked close-on-exec. */
void fd_close_all(struct task *t, bool only_cloexec);

/* --- waiting (thread.c) */

/* Adds the calling thread to q; the call should then return -EWAIT. */
void thread_wait_on(struct thread *th, struct waitq *q);
/* A poll_table that calls thread_wait_on for all queues of a file. */
struct thread_poll {
    struct poll_table pt;
    struct thread *thread;
};
void thread_poll_init(struct thread_poll *tp, struct thread *th);
/* Sets the deadline of this call at its first try; later tries keep it.
 * NS_NEVER: none. Returns true after it has passed. */
bool thread_deadline(struct thread *th, int64_t deadline_ns);
/* Ends a wait: the thread's call is repeated. */
void thread_wake(struct thread *th);
/* Lets the others run once. The call should return the result of this: -EWAIT,
 * or 0 when it is repeated. */
int thread_yield(struct thread *th);
/* Ends one step of a long call, which is repeated at once. The call should
 * return the result of this: -EWAIT. */
int thread_again(struct thread *th);
/* Removes the thread from all wait queues. */
void thread_unwait(struct thread *th);
/* Undoes the side effects of a waiting call that is not repeated. */
void thread_forget_call(struct thread *th);
/* Lets the call that waits continue with f, the file of its descriptor, also
 * after another thread has closed that or given it to another file. */
void thread_keep_file(struct thread *th, struct file *f);
/* Keeps f, and adds the thread to the queues that are woken when f changes.
 * Returns -EWAIT. */
int thread_wait_file(struct thread *th, struct file *f);

/* --- life (task.c, task_fork.c, task_exec.c, task_exit.c, task_wait.c) */

/* Cost of a process for the host beside its memory (records, the first 64 KiB
 * of its native stack), charged to the memory limit. */
enum { PROCESS_FEE_BYTES = 64 << 10 };

/* Creates a child of `parent` with copies of everything that it inherits, or
 * for NULL the init task. -EAGAIN at the limit of processes. */
int task_new(struct kernel *k, struct task *parent, OWN struct task **ret);
/* Charges t for another process or thread: 0, -EAGAIN, -ENOMEM. */
int task_charge_process(const struct task *t);
void task_uncharge_process(struct kernel *k);
/* Frees all of its threads; not from within their resume. */
void task_free_threads(struct task *t);
/* A number that no process and no thread has. */
int task_new_tid(struct kernel *k);
/* Frees a task without a thread, after its status was read. */
void task_reap(struct task *t);
/* Returns the task with this pid, a zombie too, or NULL. */
struct task *task_find(struct kernel *k, int pid);
/* The task that has a thread of this number, or NULL. */
struct task *task_find_thread(struct kernel *k, int tid);
/* Returns the task that acts as `as`; NULL for the host. */
static inline struct task *
task_of(const struct caller *as)
{
    return as ? CONTAINER_OF(as, struct task, as) : NULL;
}
/* Returns `path` with the rights of t; a relative one starts at `base`. */
struct at task_at(const struct task *t, const struct vnode *base,
                  const char *path);
/* Like path_walk, for task_at. */
int task_walk(const struct task *t, const struct vnode *base, const char *path,
              unsigned flags, struct walk *ret);
/* Makes `v` the working directory; it was found as `name` in `dir`. */
void task_set_cwd(struct task *t, const struct vnode *v,
                  const struct vnode *dir, const char *name);
/* Ends the task with a wait4 status. If the task owns its thread, the scheduler
 * frees it and then notifies the parent.
 *
 * A task that kills itself inside a system call is torn down only after the
 * call returns, so its handler keeps its files and memory. If the end of a task
 * causes that of another one, the other one ends after it. */
void task_exit(struct task *t, int status);
/* True if the task will never return to its program. */
static inline bool
task_is_over(const struct task *t)
{
    return t->is_zombie || t->is_ending;
}
/* After a call of th: ends those of its tasks that are to end. */
void task_exit_due(struct thread *th);
/* Notifies the parent of a zombie, or frees it if nobody needs its status. */
void task_notify(struct task *t);
/* Stops or continues the task by a signal, and notifies the parent. */
void task_stop(struct task *t, int sig);
void task_continue(struct task *t);
/* After MACHINE_FORKS. */
void task_fork(struct thread *th);
/* Ends a vfork: the child of th is done with it, and the parent continues. */
void task_vfork_done(struct thread *th);
/* Ends the vfork child that borrows th, if there is one, before th goes away.
 */
void task_end_borrower(struct thread *th);
/* True if its parent is in another process group of the same session. */
bool task_links_group(const struct task *t);
/* True if no member of the process group has a parent in another group of the
 * same session. */
bool task_group_is_orphaned(struct kernel *k, int pgid);

/* Reads a clock as t sees it, by its CLOCK_* number: -EINVAL (sys_time.c). */
int task_clock_ns(struct task *t, int id, int64_t *ret);

/* Converts to the rusage of a 32-bit program (task_wait.c). */
void task_rusage_to_guest(const struct usage *u, int32_t out[18]);

/* --- args.c */
/* Copies argv and envp (NULL-terminated host arrays), charged as memory.
 * -E2BIG: more than 2 MiB of strings and pointers, or 128 KiB in one string.
 * -ENOMEM. */
int args_set(struct task *t, const char *const *argv, const char *const *envp,
             const char *exe);
/* Copies the arguments of a parent, charged to `to`. -ENOMEM. */
int args_copy(struct task *to, const struct task *from);
void args_fini(struct task *t);

/* --- task_exec.c */
struct exec {
    const char *path;
    const struct vnode *base;
    const char *const *argv, *const *envp;
    char *why; /* of -ENOEXEC */
    size_t why_size;
};
/* Prepares t to run another program: resolves it, including #!, and replaces
 * its arguments. On success *ret is the program to start, and only the
 * arguments, exe and credentials of t have changed. -EINPROGRESS: *ret is being
 * compiled. */
int task_exec_prepare(struct task *t, const struct exec *e,
                      OWN struct program **ret);
/* Resets the parts of t that exec resets: handlers, close-on-exec files, ... */
void task_exec_commit(struct task *t);

#endif

/* One sandbox's kernel: everything that its processes share. It runs on one OS
 * thread at a time and takes no locks. */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include "base/list.h"
#include "kernel/clock.h"
#include "kernel/limits.h"
#include "kernel/machine.h"
#include "kernel/rng.h"
#include "kernel/task.h"
#include "kernel/vfs/vfs.h"
#include "kernel/wait.h"

#include <stdbool.h>
#include <stdint.h>

#define PID_BUCKETS   64
#define PID_MAX       32768
#define FUTEX_BUCKETS 64
#define TAG_BESIDE    (UINT64_C(1) << 63)

struct hostcall;
struct pollfd;
struct denials;
struct net; /* socket name spaces: socket.c */
struct outside;
struct outside_ops;
struct locks; /* file locks: lock.c */
struct tree;

/* A host descriptor that threads wait for, polled by the scheduler. */
struct host_watch {
    struct list link; /* in kernel->host_watches while a thread waits */
    int hfd;
    short events; /* POLLIN, POLLOUT */
    struct waitq queue;
};

struct kernel {
    const struct host_ops *host;
    const struct machine_ops *machine;
    struct engine *engine;

    /* Processes. A task stays in both tables until its status was read. */
    struct list tasks; /* all, oldest first */
    struct list pids[PID_BUCKETS];
    struct task *init; /* pid 1: adopts and reaps orphans */
    int32_t last_pid;
    bool has_wrapped_pids;
    uint64_t n_forks;     /* number of tasks so far, for /proc/stat */
    uint64_t run_tag;     /* of the current run */
    uint64_t last_tag;    /* last tag given out */
    bool run_is_open;     /* the run was not answered yet */
    bool run_was_refused; /* refused memory or a process, see kernel_charge */

    /* Scheduling: sched.c explains the two queues. A thread is in at most one
     * of them. */
    struct list run_queue;
    struct list background; /* runnable threads of earlier runs */
    struct thread *running;
    /* host time: start of this slice, last stack measurement */
    int64_t slice_start_ns, look_ns;
    int64_t away_ns;             /* host time in which our thread did not run */
    int64_t deadline_ns;         /* host time limit of kernel_run, or 0 */
    int64_t cpu_ns;              /* of all processes so far */
    int64_t run_cpu_ns;          /* cpu_ns when the run began */
    bool was_denied;             /* policy refused the current run something */
    OWN struct denials *denials; /* the hosts among them; NULL: none */
    unsigned boosts;             /* in a row, see sched.c */
    struct thread *started;   /* the last new thread, if it has not run yet */
    struct list dead_threads; /* freed by the scheduler */
    struct list reap_list;    /* tasks freed by the scheduler */
    struct list ending;       /* tasks that end with the one that ends now */
    bool is_exiting;          /* a task is ending: task_exit.c */
    /* Waiting for the host. The scheduler polls these descriptors and the bell
     * together. */
    struct list host_watches;
    struct pollfd *pollfds; /* of the scheduler */
    size_t cap_pollfds;
    int kick_hfd; /* a bell: wakes an idle scheduler */
    _Atomic bool kicked;
    /* called between slices after a kick; or NULL */
    void (*on_kick)(void *arg);
    void *on_kick_arg;
    /* Called when the program of t asks for the host command of its own name.
     * -ENOENT: no such command. NULL: there are none at all. */
    int (*host_call)(void *arg, struct task *t, const void *in, size_t len,
                     OWN struct hostcall **ret);
    void *host_arg;

    OWN union guest_copies *copies; /* guest.h */
    /* Policy, users and files. */
    const char *const *allow_tools; /* NULL-terminated; NULL: all */
    /* of root processes, and of files that the host creates */
    struct cred user;
    OWN struct tree *given; /* the files provided by the host: exec_policy.c */
    struct vfs vfs;         /* mounts and open files */
    /* Returns the process whose folder v is, or 0. It may have ended. Set by
     * /proc when it is created. */
    int (*proc_pid)(const struct vnode *v);
    struct limits limits;
    struct clock clock;
    struct rng rng;
    const struct host_file *image_file; /* of the root image, or NULL */
    /* Objects that are created at first use, and found by name or by inode. */
    struct net *net;
    struct outside *outside; /* NULL: no network */
    struct list inbounds;    /* forwarded ports: inbound.c */
    struct locks *locks;
    struct list futexes[FUTEX_BUCKETS]; /* waiting threads: futex.c */
    struct list fifos;                  /* open FIFOs: fifo.c */
    struct list ttys;                   /* pseudo-terminals: tty.c */
    struct list mqueues;                /* message queues with a name */
    uint64_t last_mqueue;               /* last number given to one */
    struct list segments;               /* of System V: segment.c */
    size_t n_segments;
    int32_t last_segment; /* number */
    char hostname[65];
    struct host_sink *strace;        /* NULL: off */
    struct host_sink *strace_others; /* of processes outside the current run */
    bool strace_has_run;             /* if strace has only those of the run */
};

static inline struct kernel *
kernel_of(struct vfs *v)
{
    return CONTAINER_OF(v, struct kernel, vfs);
}
extern const struct vfs_hooks kernel_vfs_hooks; /* hooks.c */

/* Everything that a sandbox is created with. Pointers without a remark are
 * borrowed for the call. */
struct kernel_options {
    const struct host_ops *host;
    const struct machine_ops *machine;
    struct engine *engine;
    const uint64_t *limits; /* LIMIT_COUNT values, or NULL: the defaults */
    bool is_deterministic;  /* fixed seed and clock */
    uint64_t seed;
    int64_t start_ns;     /* real time at which the virtual clock starts */
    const char *hostname; /* NULL: "sandbox" */
    /* The file that may contain contents of the root file system, or NULL. */
    const struct host_file *image_file;
    /* Names of the programs that may run (exec_policy.c), NULL-terminated,
     * borrowed for the kernel's life; NULL allows all. */
    const char *const *allow_tools;
    bool is_root; /* its user is root instead of uid 1000 */
    /* The files provided by the host; NULL: those of `root` as they are. */
    const struct tree *given;
    /* The way to hosts outside (outside.h), or NULL: there is none. */
    const struct outside_ops *outside;
    void *outside_arg;
};

/* Creates a kernel with `root` as its root file system, which is consumed, also
 * on failure. -ENOMEM, or the error of creating the bell (-EMFILE). */
int kernel_new(const struct kernel_options *o, OWN struct fs *root,
               OWN struct kernel **ret);
/* Kills all processes and frees everything. */
void kernel_free(OWN struct kernel *k);

enum { SPAWN_FILES = 4 };

/* Starts `path` as a new root process (in a process group of its own; with a
 * terminal, in a session of its own) with descriptors 0 to 3. Returns its pid
 * or -errno; `why` contains details. -EINPROGRESS: its program is being
 * compiled; try again later. */
struct spawn {
    const char *path;
    const char *const *argv, *const *envp; /* NULL-terminated */
    const char *cwd;
    const struct vnode *folder; /* if cwd is NULL: its folder, or NULL */
    const struct cred *cred;    /* NULL: the user of the sandbox */
    /* A folder that is the root of a mount, and becomes the root directory of
     * the process; NULL: that of init. The program is searched before that, by
     * an absolute path; cwd is relative to the new root. */
    const char *root;
    /* Descriptors 0 to 3; NULL: not open. Consumed, also on failure. */
    OWN struct file *stdio[SPAWN_FILES];
    struct tty *ctty;            /* becomes its controlling terminal, or NULL */
    uint64_t tag;                /* of kernel_new_tag; 0: that of the current
                                  * run */
    const char *culprit;         /* set on failure: path, cwd or root */
    OWN struct program *program; /* set with -EINPROGRESS */
};
int kernel_spawn(struct kernel *k, struct spawn *s, char *why, size_t why_size);

/* Runs processes until `done` returns true (0), or until `deadline_ns`
 * (monotonic, of the kernel's clock) has passed (-ETIMEDOUT). Sleeps while
 * nothing can run. Frees removed objects before it returns. */
int kernel_run(struct kernel *k, bool (*done)(void *arg), void *arg,
               int64_t deadline_ns);
/* Runs processes while one is runnable and `done` returns false, without
 * sleeping. */
void kernel_step(struct kernel *k, bool (*done)(void *arg), void *arg);
/* True if kernel_step could do something now. */
bool kernel_has_work(const struct kernel *k);
/* Returns the time, of the host's monotonic clock, at which kernel_step will
 * have work if nothing else happens before; NS_NEVER: none. */
int64_t kernel_next_ns(const struct kernel *k);
/* Returns the descriptors whose readiness gives kernel_step work as well. They
 * stay valid until the kernel runs again. */
size_t kernel_host_fds(struct kernel *k, const struct pollfd **ret);
/* Makes kernel_run check `done` soon. May be called from any OS thread or
 * signal handler. */
void kernel_kick(struct kernel *k);
/* Returns a tag for processes outside of runs: has TAG_BESIDE. */
uint64_t kernel_new_tag(struct kernel *k);
/* On the thread that runs the kernel: calls on_kick before the next slice. */
void kernel_poke(struct kernel *k);
/* Starts a new run for processes that the host starts from now on: a new tag,
 * and fresh counts of CPU time and limits. */
void kernel_begin_run(struct kernel *k);
/* Ends the current run after it was answered: its remaining processes are
 * background from now on. */
void kernel_end_run(struct kernel *k);
/* Charges memory or processes for t, or refuses it. A refused run does not
 * outlive its answer, and processes of earlier runs cannot have the last
 * eighth. Otherwise a fork bomb would leave nothing for the next run. */
bool kernel_charge(const struct task *t, enum limit_id id, uint64_t n);
/* Records that policy refused t something, if t belongs to the current run. */
void kernel_deny(struct kernel *k, const struct task *t);
/* Kills all tasks and waits for their end; pids start again. on_kick is called
 * soon after all have ended, not before. Residents must have been freed. */
void kernel_end_all(struct kernel *k);
/* Kills all tasks whose run_tag is `tag` (0: all). */
void kernel_kill(struct kernel *k, uint64_t tag, int sig);
/* Returns the exit status of an ended root process; -EAGAIN while it runs. */
int kernel_reap(struct kernel *k, int pid, int *ret_status);

/* --- sched.c, for the kernel's own files */
void sched_queue(struct thread *th);       /* at the end */
void sched_queue_front(struct thread *th); /* woken or exec'd: earlier */
/* Queues a new thread early, but behind those that were started before it and
 * have not run yet. */
void sched_queue_started(struct thread *th);
void sched_queue_next(struct thread *th); /* before all others */
void sched_remove(struct thread *th);
/* With a virtual clock, makes the running thread yield at its next check if its
 * slice must be counted from there on. Called when another thread becomes
 * runnable, and when the process gets shared memory. */
void sched_begin_count(struct kernel *k);
/* Makes the scheduler free a thread, whose task has ended, and then notify the
 * parent. */
void sched_bury(struct thread *th);
/* Adds the time of the current slice so far to its task. */
void sched_account(struct kernel *k);
/* --- host_watch.c, for the kernel's own files */
/* Initialises a watch of a host descriptor, which stays with the caller. While
 * it has waiters, the scheduler polls it. */
void host_watch_init(struct host_watch *w, struct kernel *k, int hfd);
void host_watch_fini(struct host_watch *w);
/* Returns the current events, adds the queue to pt and requests `events`. */
short host_watch_poll(struct host_watch *w, struct kernel *k, short events,
                      struct poll_table *pt);
/* Requests `events` without a waiter of its own; 0: nothing. The descriptor is
 * watched once. */
void host_watch_arm(struct host_watch *w, struct kernel *k, short events);
/* Polls all watched descriptors and the bell, and wakes the waiters of those
 * that are ready. Sleeps at most until `until_ns` of the host's monotonic time,
 * or without a limit for NS_NEVER. */
void host_watch_wait(struct kernel *k, int64_t until_ns);

#endif

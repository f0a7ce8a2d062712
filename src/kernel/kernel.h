/* One sandbox's kernel: everything its processes share. All of it runs on one
 * OS thread at a time and takes no locks. */
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
#include <stdio.h>

#define PID_BUCKETS 64
#define PID_MAX     32768
#define TAG_BESIDE  (UINT64_C(1) << 63)

struct hostcall;
struct pollfd;
struct net;   /* socket name spaces: socket.c */
struct locks; /* file locks: lock.c */
struct tree;

/* Host descriptors that threads wait for; polled by the scheduler. */
struct host_watch {
    struct list link; /* in kernel->host_watches while someone waits */
    int hfd;
    short events; /* POLLIN, POLLOUT: what is waited for */
    struct waitq queue;
};

struct kernel {
    const struct machine_ops *machine;
    struct engine *engine;

    struct list tasks; /* all, oldest first */
    struct list pids[PID_BUCKETS];
    struct task *init; /* pid 1: adopts and reaps orphans */
    int32_t last_pid;
    bool has_wrapped_pids;
    uint64_t n_forks;     /* tasks made so far, for /proc/stat */
    uint64_t run_tag;     /* of the current run */
    uint64_t last_tag;    /* given so far */
    bool run_is_open;     /* it was not answered yet */
    bool run_was_refused; /* memory or a process, see kernel_refused */

    struct list run_queue;
    struct list background; /* runnable, but of earlier runs */
    struct thread *running;
    int64_t turn_ns, look_ns; /* host time: this turn began, last look */
    int64_t away_ns;          /* host time that our thread did not run in */
    int64_t deadline_ns;      /* host time: of kernel_run; 0: none */
    int64_t cpu_ns;           /* of all processes so far */
    int64_t run_cpu_ns;       /* cpu_ns when the run began */
    bool was_denied;          /* something by policy, to the current run */
    unsigned boosts;          /* in a row, see sched.c */
    struct thread *started;   /* the last one, if it has not run yet */
    struct list dead_threads; /* to be freed by the scheduler */
    struct list reap_list;    /* tasks to be freed by the scheduler */
    struct list ending;       /* those that end with the one that ends now */
    bool is_exiting;          /* there is such a one: task_exit.c */
    struct list host_watches;
    struct pollfd *pollfds; /* of the scheduler */
    size_t cap_pollfds;
    int kick_hfd; /* eventfd: wakes an idle scheduler */
    _Atomic bool kicked;
    void (*on_kick)(void *arg); /* between turns, after a kick; or NULL */
    void *on_kick_arg;
    /* The program of t asks for a command of the host, of its own name: -ENOENT
     * where there is none such; NULL: there are none at all. */
    int (*host_call)(void *arg, struct task *t, const void *in, size_t len,
                     OWN struct hostcall **ret);
    void *host_arg;

    const char *const *allow_tools; /* NULL-terminated; NULL: all */
    struct cred user; /* of its root processes, and of what the host makes */
    OWN struct tree *given; /* the host's files: exec_policy.c */
    struct list mounts;     /* the first is the root */
    uint64_t next_dev, next_anon_ino;
    struct limits limits;
    struct clock clock;
    struct rng rng;
    const struct host_file *image_file; /* of the root image, or NULL */
    struct net *net;
    struct locks *locks;
    struct watches *watches; /* of inotify files; NULL: none */
    struct list fifos;       /* open FIFOs: fifo.c */
    struct list ttys;        /* pseudo-terminals: tty.c */
    char hostname[65];
    FILE *strace;        /* NULL: off */
    FILE *strace_others; /* of processes that are not of the current run, */
    bool strace_has_run; /* if strace has those of the run only */
};

struct kernel_options {
    const struct machine_ops *machine;
    struct engine *engine;
    const uint64_t *limits; /* LIMIT_COUNT values, or NULL: the defaults */
    bool is_deterministic;  /* fixed seed and clock */
    uint64_t seed;
    int64_t start_ns;     /* real time the virtual clock begins at */
    const char *hostname; /* NULL: "sandbox" */
    /* That contents of the root file system may lie in; NULL: none. */
    const struct host_file *image_file;
    /* Names of the programs that may be run (exec_policy.c), NULL-terminated,
     * borrowed for the kernel's life; NULL: all. */
    const char *const *allow_tools;
    bool is_root; /* its user is root, not uid 1000 */
    /* The files that the host has given; NULL: those of `root` as they are. */
    const struct tree *given;
};

/* `root` becomes the root file system: taken over, also on failure. */
int kernel_new(const struct kernel_options *o, OWN struct fs *root,
               OWN struct kernel **ret);
/* Kills everything and frees all. */
void kernel_free(OWN struct kernel *k);

/* Starts `path` as a new root process (in a process group of its own; with a
 * terminal, in a session of its own) with descriptors 0 to 2.
 * Returns its pid or -errno; `why` says more. -EINPROGRESS: its program is
 * being compiled, spawn it again later. */
struct spawn {
    const char *path;
    const char *const *argv, *const *envp; /* NULL-terminated */
    const char *cwd;
    const struct vnode *folder; /* where cwd is NULL: its folder, or NULL */
    const struct cred *cred;    /* NULL: the user of the sandbox */
    /* A mount's folder, its root directory once the program was found, which
     * then has to have an absolute path; cwd counts from there. NULL: init's.
     */
    const char *root;
    OWN struct file *stdio[3];   /* taken over, also on failure */
    struct tty *ctty;            /* becomes its controlling terminal, or NULL */
    uint64_t tag;                /* of kernel_new_tag; 0: of the current run */
    const char *culprit;         /* set on failure: path, cwd or root */
    OWN struct program *program; /* set by -EINPROGRESS */
};
int kernel_spawn(struct kernel *k, struct spawn *s, char *why, size_t why_size);

/* Runs processes until `done` says true: 0, or `deadline_ns` (monotonic, of
 * the kernel's clock) has passed: -ETIMEDOUT. Sleeps while nothing can run.
 * What was removed is freed when it returns. */
int kernel_run(struct kernel *k, bool (*done)(void *arg), void *arg,
               int64_t deadline_ns);
/* Runs processes as long as one can run and `done` says false, without
 * sleeping. */
void kernel_step(struct kernel *k, bool (*done)(void *arg), void *arg);
/* Could kernel_step do something now? */
bool kernel_has_work(const struct kernel *k);
/* When it could, if nothing else happens: a time of the host's monotonic
 * clock, or NS_NEVER; or when one of these descriptors is ready, which stay
 * valid until the kernel runs again. */
int64_t kernel_next_ns(const struct kernel *k);
size_t kernel_host_fds(struct kernel *k, const struct pollfd **ret);
/* From any OS thread or signal handler: makes kernel_run look at `done` soon.
 */
void kernel_kick(struct kernel *k);
/* A tag for what is no part of a run: has TAG_BESIDE. */
uint64_t kernel_new_tag(struct kernel *k);
/* On the thread that runs it: calls on_kick before the next turn. */
void kernel_poke(struct kernel *k);
/* What the host starts from now on is another run: a new tag, CPU time and
 * limits counted anew. */
void kernel_begin_run(struct kernel *k);
/* The run was answered; what is left of it is background from now on. */
void kernel_end_run(struct kernel *k);
/* Charges memory or processes for t, or refuses it. A run to which that happens
 * does not outlive its answer, and what is left of earlier ones may not take
 * the last eighth: a fork bomb would take from the next run what that needs. */
bool kernel_charge(const struct task *t, enum limit_id id, uint64_t n);
/* Policy has refused t something: notes it, if t is of the current run. */
void kernel_deny(struct kernel *k, const struct task *t);
/* Kills all tasks and waits for their end; pids begin anew. on_kick is not
 * called before all have ended, then soon. Residents must have been freed. */
void kernel_end_all(struct kernel *k);
/* Kills all tasks whose run_tag is `tag` (0: all). */
void kernel_kill(struct kernel *k, uint64_t tag, int sig);
/* Takes the exit status of an ended root process; -EAGAIN while it runs. */
int kernel_reap(struct kernel *k, int pid, int *ret_status);

/* --- sched.c, for the kernel's own files */
void sched_queue(struct thread *th);       /* at the end */
void sched_queue_front(struct thread *th); /* woken or exec'd: sooner */
/* A new one: as soon, but behind those started before that wait for their turn.
 */
void sched_queue_started(struct thread *th);
void sched_queue_next(struct thread *th); /* before all others */
void sched_remove(struct thread *th);
/* Its task has ended: frees it soon, and tells the parent then. */
void sched_bury(struct thread *th);
/* Adds the time of the running turn so far to its task. */
void sched_account(struct kernel *k);
/* Puts w on the list of polled host descriptors while it has waiters. */
void host_watch_init(struct host_watch *w, struct kernel *k, int hfd);
void host_watch_fini(struct host_watch *w);
/* The events that hold now; adds the queue to pt and asks for `events`. */
short host_watch_poll(struct host_watch *w, struct kernel *k, short events,
                      struct poll_table *pt);

#endif

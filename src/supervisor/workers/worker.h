/* Workers: jailed processes that serve one session each, and the pool of
 * workers that are ready in advance.
 *
 * The spawner (spawner.h) starts the processes. Nothing here waits; events
 * report results.
 *
 * A worker runs `wasm-sandbox worker`. Its descriptors: 0 and 1 are one socket
 * for lines of JSON-RPC, 2 is a pipe for its last message, 3 a socket for
 * records. 4 is the socket of its broker (net/message.h). When its runtime is
 * ready and it has sealed itself, it sends worker.ready, which the pool reads.
 * Everything after that is for the session that uses the worker. */
#ifndef SUPERVISOR_WORKER_H
#define SUPERVISOR_WORKER_H

#include "base/list.h"
#include "base/own.h"
#include "supervisor/jail/cgroup.h"
#include "supervisor/jail/ending.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct worker;
struct pool;
struct reactor;

enum { WORKER_WHY_BYTES = 256 };

/* Called by the event loop, not from within a function of the pool. */
struct pool_events {
    /* A worker is ready. */
    void (*ready)(void *arg);
    /* Starts fail. They are repeated with increasing pauses, up to ten seconds.
     * For the log, and for waiting sessions. */
    void (*failed)(void *arg, const char *why);
    /* A worker in use has died or could not be started: worker_reap must
     * follow, now or later. */
    void (*ended)(void *arg, struct worker *w);
    /* A command has written output; see worker_output. May be NULL. */
    void (*output)(void *arg, struct worker *w);
};

/* The configuration of a pool. */
struct pool_config {
    char *const *argv;  /* an absolute path, "worker", ...; NULL-terminated */
    char *const *envp;  /* NULL: none */
    uint32_t idle;      /* number of workers kept ready */
    uint32_t starts;    /* maximum at a time; 0: 2 */
    uint32_t threads;   /* of one worker; 0: 64 */
    bool compiles;      /* workers have a compiler process */
    struct list *pools; /* all pools of this process */
    struct reactor *reactor;
    const struct pool_events *events;
    void *arg;
};

/* `h` must outlive the pool; the config is copied, but not the data that it
 * points to. The calling thread is the parent of all workers, which die when it
 * ends. The executable must call spawner_main for the argument "spawner". */
int pool_new(const struct pool_config *c, const struct cgroup_host *h,
             OWN struct pool **ret);
/* Kills the spawner and all remaining workers, and removes their groups.
 * Workers in use must have been reaped. Accepts NULL. */
void pool_free(OWN struct pool *p);

/* Sets the number of workers that are kept ready. Workers beyond it end. */
void pool_set_idle(struct pool *p, uint32_t idle);
/* The number of workers that are ready, and that are starting. */
uint32_t pool_ready(const struct pool *p);
uint32_t pool_starting(const struct pool *p);

/* Assigns a worker to a session, with its limits: `limit` has N_LIMITS. The
 * kernel's memory limit is memory, disk and the worker's own use. Starts
 * another worker. -EAGAIN: none is ready; events->ready will be called. Other
 * errors: the limits could not be set, and the worker is gone. */
int pool_take(struct pool *p, const uint32_t *limit, OWN struct worker **ret);

/* A caller that got -EAGAIN no longer waits. */
void pool_forget_want(struct pool *p);

/* A native program in a jail of its own, as `limit` runs it. It has no rpc and
 * no state; its output goes to a ring. */
struct worker_command {
    char *const *argv;       /* ends with NULL */
    const char *const *read; /* host paths that it may read; NULL-terminated, or
                              * NULL */
    const uint32_t *limit;   /* N_LIMITS */
    size_t output_bytes;     /* kept bytes; 0: 1 MiB */
};
/* The worker exists at once and starts later. If it cannot start, it has
 * `ended`, and its ending contains the reason. -E2BIG, -ENOMEM. -EAGAIN: too
 * many are starting. */
int pool_run(struct pool *p, const struct worker_command *c,
             OWN struct worker **ret);

/* The part of a worker that its user sees. */
struct worker {
    pid_t pid;     /* 0: not started yet */
    int pid_hfd;   /* -1: not started yet */
    int rpc_hfd;   /* non-blocking; -1: a command */
    int state_hfd; /* the same */
    /* The broker's end of the worker's network; -1: a command. It blocks,
     * because the broker shares it. */
    int network_hfd;
    void *user;     /* of its user */
    bool has_ended; /* events->ended was called */
};

/* Sends SIGKILL; `ended` follows. Can be repeated. */
void worker_kill(struct worker *w);
/* Sends a signal to the command. -ESRCH: none runs. */
int worker_signal(struct worker *w, int signal);
/* Returns the end of a worker that has_ended, with the cause from the kernel's
 * counters. Frees the worker and its group, and closes its descriptors. */
void worker_reap(OWN struct worker *w, struct ending *ret);
/* Copies the last message of a worker, or a command's output (standard output
 * and error together): up to `size` bytes from number `at`, or from the first
 * one still there. Returns the number of bytes; *ret_at is the number of the
 * first. */
size_t worker_output(const struct worker *w, uint64_t at, char *to, size_t size,
                     uint64_t *ret_at);
/* Returns the total number of bytes written. */
uint64_t worker_output_end(const struct worker *w);
/* The current resource use. */
struct worker_use {
    uint64_t memory_bytes, disk_bytes, cpu_us;
};
void worker_use(const struct worker *w, struct worker_use *ret);

#endif

/* Workers: jailed processes that serve one session each, and the pool of those
 * that are ready before a session wants one.
 *
 * The spawner (spawner.h) starts the processes: nothing here waits, and results
 * are reported by events.
 *
 * A worker runs `wasm-sandbox worker`. Its descriptors: 0 and 1 one socket for
 * lines of JSON-RPC, 2 a pipe for its last words, 3 a socket for records. When
 * its runtime is up and it has sealed itself, it sends worker.ready, which the
 * pool reads: what a taken worker sends is all for who took it. */
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

enum { WORKER_WHY_BYTES = 256 };

/* Called by pool_turn alone. */
struct pool_events {
    /* A worker can be taken. */
    void (*ready)(void *arg);
    /* Starts fail; they are tried again, ever less often, up to once in ten
     * seconds. For the log, and for whoever waits. */
    void (*failed)(void *arg, const char *why);
    /* A worker that somebody has is dead or could not be started: worker_reap
     * must follow, then or later. */
    void (*ended)(void *arg, struct worker *w);
    /* A command has written something; see worker_output. NULL is fine. */
    void (*output)(void *arg, struct worker *w);
};

struct pool_config {
    char *const *argv;  /* an absolute path, "worker", ...; ends with NULL */
    char *const *envp;  /* NULL: none */
    uint32_t idle;      /* how many are kept ready */
    uint32_t starts;    /* at most at a time; 0: 2 */
    uint32_t threads;   /* of one worker; 0: 64 */
    bool compiles;      /* workers have a compiler beside them */
    struct list *pools; /* all of this process */
    const struct pool_events *events;
    void *arg;
};

/* `h` must outlive it; the config is copied, but for what its pointers point
 * to. The thread that calls this is the parent of all workers, which die when
 * it ends. The executable must call spawner_main for the argument "spawner". */
int pool_new(const struct pool_config *c, const struct cgroup_host *h,
             OWN struct pool **ret);
/* Kills the spawner and all workers that are left, and removes their groups.
 * Those that were taken must have been reaped. NULL is fine. */
void pool_free(OWN struct pool *p);

/* Readable when pool_turn should be called; for epoll or poll. */
int pool_hfd(const struct pool *p);
/* Does what there is to do, calls events. */
void pool_turn(struct pool *p);
/* How many can be taken now, and how many are on their way. */
uint32_t pool_ready(const struct pool *p);
uint32_t pool_starting(const struct pool *p);

/* A worker for a session, with its limits: `limit` has N_LIMITS, and the
 * kernel's for memory is memory and disk and what the worker itself takes.
 * The start of another one begins. -EAGAIN: none is ready; events->ready will
 * tell. Other errors: the limits could not be set, and the worker is gone. */
int pool_take(struct pool *p, const uint32_t *limit, OWN struct worker **ret);

/* Whoever was told -EAGAIN does not wait any more. */
void pool_forget_want(struct pool *p);

/* A program of the host in a jail of its own, as `limit` runs it. It has no
 * rpc and no state; its output goes to a ring. */
struct worker_command {
    char *const *argv;       /* ends with NULL */
    const char *const *read; /* host paths it may read; ends with NULL; NULL:
                              * none */
    const uint32_t *limit;   /* N_LIMITS */
    size_t output_bytes;     /* that are kept; 0: 1 MiB */
};
/* The worker exists at once and starts in time; if it cannot, it `ended` and
 * its ending has the reason. -E2BIG, -ENOMEM; -EAGAIN: too many are starting.
 */
int pool_run(struct pool *p, const struct worker_command *c,
             OWN struct worker **ret);

struct worker {
    pid_t pid;      /* 0: not started yet */
    int pid_hfd;    /* -1: not started yet */
    int rpc_hfd;    /* non-blocking; -1: a command */
    int state_hfd;  /* the same */
    void *user;     /* of whoever took it */
    bool has_ended; /* events->ended was called */
};

/* SIGKILL; `ended` follows. As often as you like. */
void worker_kill(struct worker *w);
/* A signal for the command. -ESRCH: none runs. */
int worker_signal(struct worker *w, int signal);
/* Its end, when it has_ended: the cause from the kernel's counters. Frees the
 * worker and its group, and closes its descriptors. */
void worker_reap(OWN struct worker *w, struct ending *ret);
/* Its last words or a command's output, standard output and error together:
 * up to `size` bytes from number `at` on, or from the first one still there.
 * The number of bytes copied; *ret_at is the number of the first. */
size_t worker_output(const struct worker *w, uint64_t at, char *to, size_t size,
                     uint64_t *ret_at);
/* How many there were in all. */
uint64_t worker_output_end(const struct worker *w);
/* What it uses now. */
struct worker_use {
    uint64_t memory_bytes, disk_bytes, cpu_us;
};
void worker_use(const struct worker *w, struct worker_use *ret);

#endif

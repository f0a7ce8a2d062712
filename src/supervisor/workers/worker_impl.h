/* The structures and functions that the files of the pool share: pool.c,
 * worker.c. */
#ifndef SUPERVISOR_WORKER_IMPL_H
#define SUPERVISOR_WORKER_IMPL_H

#include "base/os_time.h"
#include "supervisor/common/reactor.h"
#include "supervisor/common/ring.h"
#include "supervisor/jail/watch.h"
#include "supervisor/workers/spawner.h"
#include "supervisor/workers/worker.h"

enum {
    WORDS_BYTES = 4096,
    LINE_BYTES = 128,
};

enum process_state {
    PROCESS_ORDERED,
    PROCESS_STARTING, /* its runtime starts */
    PROCESS_READY,    /* ready for a session */
    PROCESS_TAKEN,    /* used by a session */
    PROCESS_KILLED,   /* to be removed by the pool */
};

/* A worker, with the pool's own data. */
struct worker_process {
    struct worker worker; /* first */
    struct pool *pool;
    struct list link; /* in pool->processes */
    enum process_state state;
    bool is_command;
    uint64_t id;
    struct cgroup group;
    uint32_t limit[N_LIMITS];
    int64_t at_ns;        /* time of the next check; 0: never */
    uint64_t memory_wall; /* limit if only we check its memory, otherwise 0 */

    struct source on_pid, on_rpc, on_words, on_message;
    int words_hfd;
    struct ring words;
    char line[LINE_BYTES]; /* its output while it starts */
    size_t line_len;

    struct jail jail; /* of a command */
    struct watch watch;
    struct ending ending;
    bool was_told; /* all messages of its jail's first process were read */
};

/* A group that could not be removed yet. */
struct stale {
    struct list link;
    struct cgroup group;
};

/* All members belong to the thread of the event loop. */
struct pool {
    struct list link; /* in config.pools */
    struct pool_config config;
    const struct cgroup_host *host;
    struct reactor_timer tick;
    struct source on_spawner;
    pid_t spawner; /* 0: there is none */
    int spawner_hfd;
    struct list processes, stale;
    uint32_t n_ready, n_starting; /* workers */
    uint64_t next_id;
    int64_t retry_ns;  /* no starts before this time; 0: no pause */
    int64_t refill_ns; /* no starts before this time while a worker is ready */
    uint32_t failures; /* in a row */
    bool had_success, is_wanted;
    bool is_shrinking; /* workers beyond config.idle end */
    bool has_strays; /* possibly: a spawner of ours died since the last check */
};

/* Waits for input on hfd. -errno. */
int pool_watch(struct pool *p, int hfd, struct source *s);
/* A source that is not watched is fine. */
void pool_unwatch(struct pool *p, struct source *s);
/* Requests a tick by the event loop. A tick may free the caller's object, so it
 * does not happen here. */
void pool_wake(struct pool *p);
/* A worker without a session was lost. */
void pool_count_failure(struct pool *p, const char *why);

/* Creates a process that has not been ordered, with a ring for its output.
 * NULL: no memory. */
OWN struct worker_process *worker_process_new(struct pool *p, bool is_command,
                                              size_t ring_bytes);
/* Closes descriptors, and removes the group or leaves it to the pool. */
void worker_process_free(OWN struct worker_process *m);
/* Moves pid, descriptors and group from the answer into m, which owns them. */
void worker_process_take_over(struct worker_process *m,
                              const struct spawn_answer *a);
/* Handles the answer of the spawner: it started the process, or failed. */
void worker_process_arrive(struct worker_process *m,
                           const struct spawn_answer *a);
/* Kills a process that no session has; the pool reaps it. */
void worker_process_kill(struct worker_process *m);
/* Returns the used memory of the worker itself, in bytes. */
uint64_t worker_process_memory(const struct worker_process *m);
/* Checks its deadline or its memory. */
void worker_process_check(struct worker_process *m, int64_t now);

#endif

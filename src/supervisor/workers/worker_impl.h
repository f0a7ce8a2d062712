/* What the files of the pool share: pool.c, worker.c. */
#ifndef SUPERVISOR_WORKER_IMPL_H
#define SUPERVISOR_WORKER_IMPL_H

#include "base/os_time.h"
#include "supervisor/common/ring.h"
#include "supervisor/jail/watch.h"
#include "supervisor/workers/birth.h"
#include "supervisor/workers/worker.h"

enum {
    WORDS_BYTES = 4096,
    LINE_BYTES = 128,
};

/* What epoll gives back. */
struct handle {
    void (*ready)(struct handle *h);
};

enum inmate_state {
    INMATE_ORDERED,
    INMATE_BORN,   /* its runtime starts */
    INMATE_READY,  /* can be taken */
    INMATE_TAKEN,  /* somebody has it */
    INMATE_DOOMED, /* the pool's to take down */
};

/* A worker, with what is the pool's of it. */
struct inmate {
    struct worker worker; /* first */
    struct workers *pool;
    struct list link; /* in pool->inmates */
    enum inmate_state state;
    bool is_command;
    uint64_t id;
    struct cgroup group;
    uint32_t limit[N_LIMITS];
    int64_t at_ns;        /* when it is to be looked at; 0: never */
    uint64_t memory_wall; /* where only we look at its memory; else 0 */

    struct handle on_pid, on_rpc, on_words, on_message;
    int words_hfd;
    struct ring words;
    char line[LINE_BYTES]; /* what it has sent while it is born */
    size_t line_len;

    struct jail jail; /* of a command */
    struct watch watch;
    struct ending ending;
    bool was_told; /* all that its jail's first process has to say */
};

/* A group that could not be removed yet. */
struct stale {
    struct list link;
    struct cgroup group;
};

struct workers {
    struct list link; /* in config.pools */
    struct workers_config config;
    const struct cgroup_host *host;
    int epoll_hfd, timer_hfd;
    struct handle on_timer, on_nursery;
    pid_t nursery; /* 0: there is none */
    int nursery_hfd;
    struct list inmates, stale;
    uint32_t n_ready, n_starting; /* workers */
    uint64_t next_id;
    int64_t retry_ns;  /* no births before; 0: they may be */
    int64_t refill_ns; /* the same, as long as a worker is ready */
    uint32_t failures; /* in a row */
    bool had_success, is_wanted;
    bool has_strays; /* perhaps: a nursery of ours died since we looked */
};

/* --- pool.c */
int pool_watch(struct workers *p, int hfd, struct handle *h);
void pool_unwatch(struct workers *p, int hfd);
/* A worker that nobody had was lost. */
void pool_note_failure(struct workers *p, const char *why);

/* --- worker.c */
OWN struct inmate *inmate_new(struct workers *p, bool is_command,
                              size_t ring_bytes);
/* With descriptors closed and the group removed, or left to the pool. */
void inmate_free(OWN struct inmate *m);
/* What the answer has is its. */
void inmate_take_over(struct inmate *m, const struct birth_answer *a);
/* It is born, or not. */
void inmate_arrive(struct inmate *m, const struct birth_answer *a);
/* Kills it; it is the pool's then. */
void inmate_doom(struct inmate *m);
/* Memory of a worker's own, in bytes, that is in use. */
uint64_t inmate_memory(const struct inmate *m);
/* Its time has come. */
void inmate_look(struct inmate *m, int64_t now);

#endif

/* A job: a call to the server, and the work on a sandbox that it asks for. */
#ifndef RPC_JOB_H
#define RPC_JOB_H

#include "rpc/loop.h"
#include "rpc/server_impl.h"
#include "wire/call.h"

struct stream;

enum run_phase { RUN_WAITS, RUN_RUNS, RUN_CANCELLED };

struct job {
    struct call call; /* its link: in slot->pending, or in process->waiters */
    struct slot *slot;
    struct wsand_sandbox *sb; /* of the slot, while the handler runs */
    bool has_lease;           /* no other job uses the sandbox */
    bool is_held;             /* its answer is not sent yet */
    uint64_t commit;          /* of a worker: the changes of the job; or 0 */
    struct work work;         /* of sandbox.destroy */

    /* of a run; guarded by srv->lock, apart from the phase */
    struct list run_link; /* in slot->runs */
    _Atomic enum run_phase run_phase;
    struct stream *stream; /* while it runs; NULL: its output is not sent */
};

static inline struct job *
job_of(const struct call *q)
{
    return CONTAINER_OF(q, struct job, call);
}

static inline struct server *
server_of(const struct call *q)
{
    return CONTAINER_OF(q->peer, struct server, peer);
}

static inline struct slot *
slot_of(const struct call *q)
{
    return job_of(q)->slot;
}

static inline struct wsand_sandbox *
sandbox_of(const struct call *q)
{
    return job_of(q)->sb;
}

/* Makes the server the front end of its peer. */
void job_init_peer(struct server *srv);

/* Calls the handler of the call `arg`, which has the sandbox to itself or is
 * BESIDE. */
void job_run(struct wsand_sandbox *sb, void *arg);
/* Has it called on a thread of the library, in the order of the sandbox unless
 * the call is BESIDE, VISIT or `concurrent`. */
void job_post(OWN struct call *q);

/* Answers that know the errors of the library. */
void answer_failure(OWN struct call *q, const struct wsand_error *err);
/* {"ok":true}, or the failure if r is not 0. */
void answer_status(OWN struct call *q, int r, const struct wsand_error *err);

#endif

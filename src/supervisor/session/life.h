/* A session's life: from requesting a worker until it is reaped and the store
 * has the outcome. life_table.h contains the phases and the action of each
 * event.
 *
 * A life consists of the link to the worker (worker_link.h), the commit stream
 * (commits.h) and the loading of the state (state_load.h). Each reports events;
 * none of them changes the phase by itself.
 *
 * All functions run on the thread of the event loop. An event may end the life
 * and free it: the caller must not use it afterwards. */
#ifndef SUPERVISOR_LIFE_H
#define SUPERVISOR_LIFE_H

#include "base/buf.h"
#include "supervisor/common/reactor.h"
#include "supervisor/session/broker.h"
#include "supervisor/session/commits.h"
#include "supervisor/session/life_table.h"
#include "supervisor/session/sessions.h"
#include "supervisor/session/state_load.h"
#include "supervisor/session/worker_link.h"
#include "supervisor/workers/worker.h"

struct call;
struct session_image;
struct session;
struct supervisor;

/* The state that a session enters at the end of its life. */
struct outcome {
    enum session_state state;
    enum cause cause;
    char reason[REASON_BYTES];
};

/* Holds a reference to its session, and is freed by life_finish. */
struct life {
    struct session *s;
    enum life_phase phase;
    struct list all; /* in supervisor.lives */
    struct worker *worker;
    /* When the life began, and the last time a call or output used it. */
    int64_t begun_ns, used_ns;
    struct reactor_timer deadline; /* of starting and leaving */
    struct reactor_timer idle;
    struct outcome outcome; /* planned while leaving, then final */
    struct buf figures;     /* of a worker that was reaped, as JSON */
    struct call *creator;   /* answered when the session is active */
    struct list resumers;   /* calls: likewise */
    struct list leavers;    /* calls: answered when the outcome is stored */
    struct worker_link link;
    struct commit_stream commits;
    struct state_load load;
    struct life_broker broker;
};

/* Gives the session a life in `phase`, LIFE_WANTING or LIFE_NEW_WANTING.
 * -ENOMEM. */
int life_begin(struct session *s, enum life_phase phase);
/* Gives workers that are ready to the lives that want one. */
void lives_take_workers(struct supervisor *sv);
/* No worker with this image can be started: ends the lives that want one. */
void lives_refuse_image(struct supervisor *sv, const struct session_image *i,
                        const char *why);
/* Sends every life the event LIFE_SHUTDOWN. */
void lives_shut_down(struct supervisor *sv);

/* Performs the step of the table. `o` replaces the outcome if the action sets
 * one; NULL: it stays. */
void life_event(struct life *l, enum life_event event, const struct outcome *o);
/* LIFE_KILL with an outcome. */
void life_kill(struct life *l, enum session_state state, enum cause cause,
               const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The worker broke the protocol: nothing more is read from it, and it is
 * killed. */
void life_fault(struct life *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Handles the answer to a request of ours. error: NULL, or its text. */
void life_answered(struct life *l, uint64_t number, uint64_t commit,
                   const char *error);
/* The worker is dead: reads its last messages, then LIFE_ENDED. */
void life_on_ended(struct life *l);
/* Called when a job of the store is done, perhaps the last one that a life
 * without a worker waited for. */
void life_job_done(struct life *l);
/* Called for a call or output: the session is not idle. */
void life_used(struct life *l);
/* True if the worker does not have all of its state yet. */
bool life_is_loading(const struct life *l);
/* True during the last commit. */
bool life_is_leaving(const struct life *l);
/* True if there is no worker any more. */
bool life_is_reaped(const struct life *l);

/* --- life_end.c: the end of a worker */

/* Reaps the worker, keeps its output and figures. The last output of a worker
 * that was not killed is logged. */
void life_reap(struct life *l, bool was_killed, struct ending *ret);
/* Sets the outcome of a worker that was not killed, from the cause of its
 * death. */
void life_decide_start(struct life *l, const struct ending *e);
void life_decide(struct life *l, const struct ending *e);
void life_decide_leave(struct life *l, const struct ending *e);
/* Answers the remaining calls, enters the outcome and frees the life. */
void life_finish(struct life *l);

#endif

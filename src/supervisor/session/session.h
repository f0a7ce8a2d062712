/* A session, and the life of its worker.
 *
 * A session without a worker is a few hundred bytes. Its life begins when it
 * wants a worker and ends when that is reaped; everything in between hangs on
 * struct life. All on the loop's thread. */
#ifndef SUPERVISOR_SESSION_H
#define SUPERVISOR_SESSION_H

#include "base/json.h"
#include "store/state_check.h"
#include "store/thread.h"
#include "supervisor/common/reactor.h"
#include "supervisor/session/call.h"
#include "supervisor/session/sessions.h"
#include "supervisor/session/supervisor.h"
#include "supervisor/workers/worker.h"
#include "wire/frame.h"
#include "wire/outbox.h"

enum { LABEL_BYTES_MAX = 256, REASON_BYTES = 256, OUTPUT_KEPT = 65536 };

struct session {
    struct list link; /* in the table */
    struct supervisor *sv;
    int refs;
    char id[SESSION_ID_BYTES];
    char *agent, *label;    /* "": none */
    char *limits, *options; /* JSON, as the store keeps them */
    struct image *image;    /* NULL: of any */
    char **command;         /* of the host, ends with NULL; NULL: a sandbox */
    enum session_state state;
    enum cause cause;
    char reason[REASON_BYTES]; /* of the cause; "": there is no more to say */
    int64_t created_ms, changed_ms; /* since 1970 */
    uint32_t limit[N_LIMITS];
    bool is_interval, auto_resume;
    bool is_lost;       /* it could not be created: there is no row */
    bool has_state;     /* in the store */
    struct end *end;    /* session.end is on its way to the store */
    bool row_has_ended; /* it was there */
    struct life *life;
    /* the end of what its command wrote, when that is over */
    char *output;
    size_t output_len;
    uint64_t output_at;
    struct list waiting; /* calls, until it is active or cannot be */
    char *not_copied;    /* for the answer of a fork or resume: not_copied.c */
    size_t not_copied_len;
};

/* --- the table (sessions.c) */

int sessions_init(struct sessions *t);
void sessions_fini(struct sessions *t);
/* A new one in `starting`, in the table, with an id that nobody can guess. It
 * has what it is given, and one reference of the table. NULL: no memory. */
struct session *session_new(struct supervisor *sv, const char *id);
void session_set_image(struct session *s, struct image *i); /* once */
struct session *session_get(struct session *s);
void session_put(struct session *s);
struct session *sessions_find(struct supervisor *sv, struct text id);
/* fn may take the session it is called for out of the table. */
void sessions_each(struct sessions *t, void (*fn)(struct session *s, void *arg),
                   void *arg);
/* Out of the table: nobody finds it any more. */
void session_forget(struct session *s);
/* Those that the store has. 0 or -errno. */
int sessions_load(struct supervisor *sv, struct store *store);
/* Those whose workers died with the supervisor that had them. */
void sessions_pause_orphans(struct supervisor *sv);
/* Its members as a JSON object, live figures included. */
void session_put_json(const struct session *s, struct buf *b);
void session_row(const struct session *s, struct store_session *ret);
void store_session_put_json(const struct store_session *row, struct buf *b);

/* --- what it was created with (session_options.c) */

/* From the parameters of session.create. 0, or -errno and q was answered. */
int session_take_options(struct session *s, struct call *q);
/* Back from limits and options, as the store kept them. -EBADMSG, -ENOMEM. */
int session_read_options(struct session *s);
/* The parameters of the worker's `create`. */
void session_put_create(const struct session *s, struct buf *b);

/* --- changes of state (state.c) */

/* Told when the store has it, or cannot. */
typedef void state_done(struct session *s, void *arg, int error,
                        const char *why);
struct state_change {
    enum session_state to;
    enum cause cause;
    const char *reason;  /* NULL: none */
    const char *figures; /* a JSON object; NULL: {} */
    const struct session *forked_from;
    state_done *done; /* NULL: nobody waits */
    void *arg;
};
/* Enters the state now, and has the store keep row and event. */
void session_enter(struct session *s, const struct state_change *c);
/* At the end: what the store did not take is given up. */
void states_forget_unsaved(struct supervisor *sv);

/* Ends, now and every hour, sessions that are older than the configuration
 * lets them be (retention.c). */
void retention_begin(struct supervisor *sv);

/* --- calls to sessions (session_call.c, do_session.c) */

/* To its handler, or to the worker. */
void session_call(struct session *s, OWN struct call *q);
/* To the worker, or to wait for one, or refused: as the state says. */
void session_to_worker(struct session *s, OWN struct call *q);
/* Until the session is active, or cannot be. */
void session_wait(struct session *s, OWN struct call *q);
/* What waited is served, or refused. */
void session_serve_waiting(struct session *s);
/* Refuses it because of the state. */
void session_refuse(const struct session *s, OWN struct call *q);
bool session_is_serving(const struct session *s);
/* Begins a life for q, which waits for it. */
void session_resume(struct session *s, enum cause cause, OWN struct call *q);

/* --- the life of a worker (life.c) */

enum life_phase {
    LIFE_WANTING, /* no worker yet */
    LIFE_LOADING, /* it is given the session's state */
    LIFE_SERVING,
    LIFE_LEAVING, /* it commits for the last time */
    LIFE_DYING,   /* killed */
    LIFE_DEAD,    /* reaped; its last commit is on the way */
};

/* What a life shall end in. */
struct outcome {
    enum session_state state;
    enum cause cause;
    char reason[REASON_BYTES];
};

/* Whose output a process's is. */
struct route {
    struct list link;
    uint64_t process;
    struct client *client;
    bool has_pty, has_window;
};

/* Numbers of our own requests to a worker; those of calls are above. */
enum {
    ASK_CREATE = 1,
    ASK_LOAD,
    ASK_LEAVE,
    ASK_CANCEL,
    ASK_HANG_UP,
    ASK_WINDOW
};
enum { ASK_LAST = 7 };

struct life {
    struct session *s;
    enum life_phase phase;
    struct list link; /* in supervisor.lives */
    struct worker *worker;
    int64_t begun_ns, used_ns;
    struct timer deadline; /* of starting, leaving, dying */
    struct timer idle;
    bool has_row;    /* the store has the session */
    bool is_ready;   /* the worker has its state */
    bool has_died;   /* there was a worker, and it was reaped */
    bool is_hurried; /* leaving without waiting for what runs */
    bool has_outcome;
    struct outcome outcome;
    struct ending ending;
    struct call *creator; /* answered when it is active */
    struct list resumers; /* calls: the same */
    struct list leavers;  /* calls: answered when the outcome is entered */

    /* lines (route.c) */
    struct source rpc;
    struct frame in;
    struct outbox out;
    uint64_t last_number;
    uint32_t n_asked[ASK_LAST + 1]; /* without an answer */
    uint64_t leave_commit;          /* of ASK_LEAVE; 0: not answered yet */
    bool is_faulty;                 /* it is not heard any more */
    struct list open;               /* calls that the worker has */
    struct list held;               /* calls whose answers wait for a commit */
    size_t held_bytes;
    struct list routes;
    size_t n_routes;
    struct list stall; /* in client->stalled */

    /* records (records.c) */
    struct source state;
    struct state_check check;
    struct list parts; /* of commits, not posted */
    size_t part_bytes;
    struct commit_job *committing; /* posted */
    uint64_t complete, committed;  /* the worker's count */
    bool is_refused;               /* the store could not commit */
    struct load_job *loading;
    bool is_reading;       /* the load job is posted */
    struct repair *repair; /* the store repairs the state */
    bool was_repaired;
    bool awaits_break; /* the worker has not said yet that it forgot it */
    struct outbox records;
};

/* Gives the session a life: it is `starting`. -ENOMEM. */
int life_begin(struct session *s);
/* A worker can be had. */
void lives_take_workers(struct supervisor *sv);
/* Row and worker are there, perhaps. */
void life_check_ready(struct life *l);
/* Has the worker commit, then ends the life in `f`. Runs go on to their end
 * unless `hurry`. */
void life_leave(struct life *l, const struct outcome *f, bool hurry);
void life_set_outcome(struct life *l, enum session_state state,
                      enum cause cause, const char *reason);
/* Kills the worker; the first outcome counts. */
void life_end(struct life *l, enum session_state state, enum cause cause,
              const char *format, ...) __attribute__((format(printf, 4, 5)));
/* What runs in a life that leaves is cancelled. */
void life_hurry(struct life *l);
/* The answer to a request of ours. error: NULL, or its text. */
void life_answered(struct life *l, uint64_t number, uint64_t commit,
                   const char *error);
/* The store has what the worker committed for the last time. */
void life_left(struct life *l);
/* The worker broke the protocol. */
void life_fault(struct life *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The worker is dead. Before the store has the session, nothing is done. */
void life_on_ended(struct life *l);
/* A commit is done while nothing else holds a dead life. */
void life_finish(struct life *l);
void life_used(struct life *l);

/* --- lines to and from a worker (route.c) */

int route_begin(struct life *l);
void route_end(struct life *l);
/* Has the worker cancel the run of this number. */
void route_cancel(struct life *l, uint64_t number);
/* A request of our own. */
void route_ask(struct life *l, uint64_t number, const char *method,
               const struct buf *params);
void route_send_call(struct life *l, OWN struct call *q);
/* Reads what is there. */
void route_read(struct life *l);
/* Waits for what is wanted now. */
void route_watch(struct life *l);
/* Answers those whose commit is there. */
void route_release(struct life *l);
/* All that the worker has not answered, or the store does not have. */
void route_interrupt(struct life *l);

/* The call that the worker has under this number, or NULL. */
struct call *route_find_open(const struct life *l, uint64_t number);

/* --- output (output.c) */

/* The output of the process that q started is for q's client. */
void output_add_route(struct life *l, const struct call *q, struct text result);
/* After its end has been told, a process writes no more. */
void output_end_route(struct life *l, const struct call *q);
void output_end_routes(struct life *l);
/* A notification of the worker; `params` is an object. */
void output_pass(struct life *l, struct text params);

/* --- records from and to a worker (records.c) */

int records_begin(struct life *l);
void records_end(struct life *l);
/* Reads what is there. */
void records_read(struct life *l);
/* Waits for what is wanted now. */
void records_watch(struct life *l);
/* The store thread has a job of this life. */
bool records_are_busy(const struct life *l);
/* Sends the state that the store has. */
void records_load(struct life *l);
/* The worker shall forget what it was sent. */
void records_break_off(struct life *l);
/* The store thread has room again. */
void records_go_on(struct supervisor *sv);

/* --- damage (repair.c) */

/* The state could not be read to its end: has the store repair it and sends it
 * again. Not 0: it was repaired before, or nobody waits for it, or there is no
 * memory. */
int repair_begin(struct life *l);
/* The worker has answered what was broken off. */
void repair_broken_off(struct life *l);
/* Logs what the store found damaged when it was opened, with an event for each
 * session concerned. */
int repair_report(struct supervisor *sv, struct store *store);

#endif

/* A session: the part that stays when there is no worker, a few hundred bytes.
 * Everything about its worker hangs on struct life (life.h). All functions run
 * on the thread of the event loop. */
#ifndef SUPERVISOR_SESSION_H
#define SUPERVISOR_SESSION_H

#include "base/json.h"
#include "store/thread.h"
#include "supervisor/session/call.h"
#include "supervisor/session/sessions.h"
#include "supervisor/session/supervisor.h"

enum { LABEL_BYTES_MAX = 256, OUTPUT_KEPT = 65536 };

struct end;  /* do_end.c */
struct life; /* life.h */

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
    struct buf *json; /* gets the session in its new state; NULL: not */
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

/* Checks a call's parameters and gives it to its handler or its session. */
void session_dispatch(OWN struct call *q);
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

#endif

/* A session: the part that exists without a worker, a few hundred bytes. struct
 * life (life.h) contains everything about its worker. All functions run on the
 * thread of the event loop. */
#ifndef SUPERVISOR_SESSION_H
#define SUPERVISOR_SESSION_H

#include "base/json.h"
#include "store/thread.h"
#include "supervisor/session/call.h"
#include "supervisor/session/network.h"
#include "supervisor/session/sessions.h"
#include "supervisor/session/supervisor.h"

enum { LABEL_BYTES_MAX = 256, OUTPUT_KEPT = 65536 };

struct end;  /* do_end.c */
struct life; /* life.h */

/* Reference counted. The table holds one reference until session_forget, and
 * each life, job and pending change holds another. */
struct session {
    struct list link; /* in the table */
    struct supervisor *sv;
    int refs;
    char id[SESSION_ID_BYTES];
    char *agent, *label;         /* "": none */
    char *limits, *options;      /* JSON, as the store keeps them */
    struct session_image *image; /* NULL: any */
    char **command;              /* a native program, NULL-terminated; NULL: a
                                  * sandbox */
    enum session_state state;
    enum cause cause;
    char reason[REASON_BYTES];      /* of the cause; "": no details */
    int64_t created_ms, changed_ms; /* since 1970 */
    uint32_t limit[N_LIMITS];
    bool is_interval, auto_resume;
    bool is_lost;       /* could not be created: there is no row */
    bool has_state;     /* in the store */
    bool has_previews;  /* a preview was used */
    struct end *end;    /* session.end is being stored */
    bool row_has_ended; /* the store has its end */
    struct life *life;
    /* the end of its command's output, when that has ended */
    char *output;
    size_t output_len;
    uint64_t output_at;
    struct list waiting; /* calls that wait until it is active or cannot be */
    struct session_network *network; /* network.h; NULL: it never had one */
    struct list forwards;            /* of ports: forward.h */
    size_t n_forwards;
    char *not_copied; /* for the answer of a fork or resume: not_copied.c */
    size_t not_copied_len;
};

/* --- the table (sessions.c) */

/* Create an empty table (-ENOMEM), and free it with its references. */
int sessions_init(struct sessions *t);
void sessions_fini(struct sessions *t);
/* Creates a session in `starting`, in the table, with an id that cannot be
 * guessed, and one reference of the table. NULL: no memory. */
struct session *session_new(struct supervisor *sv, const char *id);
/* Sets the image, which counts its sessions. Called once. */
void session_set_image(struct session *s, struct session_image *i);
/* Add and drop a reference. session_put accepts NULL. */
struct session *session_get(struct session *s);
void session_put(struct session *s);
/* Finds a session that has not ended, by its whole id. NULL: there is none. */
struct session *sessions_find(struct supervisor *sv, struct text id);
/* fn may remove its session from the table. */
void sessions_each(struct sessions *t, void (*fn)(struct session *s, void *arg),
                   void *arg);
/* Removes it from the table, so that it is not found any more. */
void session_forget(struct session *s);
/* Loads the sessions of the store. Returns 0 or -errno. */
int sessions_load(struct supervisor *sv, struct store *store);
/* Pauses sessions whose workers died with their supervisor. */
void sessions_pause_orphans(struct supervisor *sv);
/* Writes the session as a JSON object, with live figures. */
void session_put_json(const struct session *s, struct buf *b);
/* Fills the row of the store; its strings are borrowed from s. */
void session_row(const struct session *s, struct store_session *ret);
/* Writes a row as a JSON object, for sessions that may have ended. */
void session_put_row_json(const struct store_session *row, struct buf *b);

/* --- options (session_options.c) */

/* Reads the parameters of session.create. Returns 0, or -errno after answering
 * q. */
int session_take_options(struct session *s, struct call *q);
/* Reads limits and options as the store kept them. -EBADMSG, -ENOMEM. */
int session_read_options(struct session *s);
/* Writes the name of the image in such options, as JSON. */
void session_put_image_name(const char *options, struct buf *b);
/* True for a session of an x86 computer, by its stored options. */
bool session_has_disk(const struct session *s);
/* Writes network and forwards into the options, as the store keeps them.
 * -ENOMEM: the options are unchanged. */
int session_write_options(struct session *s);
/* Writes the parameters of the worker's `create`. */
void session_put_create(const struct session *s, struct buf *b);

/* --- changes of state (session_state.c) */

/* Called when the store has the change, or cannot have it. */
typedef void session_change_done(struct session *s, void *arg, int error,
                                 const char *why);
/* A change of state with its circumstances. Strings are copied. */
struct session_change {
    enum session_state to;
    enum cause cause;
    const char *reason;  /* NULL: none */
    const char *figures; /* a JSON object; NULL: {} */
    const struct session *forked_from;
    struct buf *json; /* receives the session in its new state, or NULL */
    session_change_done *done; /* NULL: no notification */
    void *arg;
};
/* Enters the state now, and makes the store keep row and event. */
void session_enter(struct session *s, const struct session_change *c);
/* Makes the store keep the row as it is now, for example with other options,
 * and an event with a kind of its own, which is a constant. `event` is a JSON
 * object with a NUL, NULL for no memory. */
void session_note(struct session *s, const char *kind, OWN char *event,
                  session_change_done *done, void *arg);
/* At the end: gives up changes that the store did not accept. */
void session_forget_unsaved(struct supervisor *sv);

/* Ends, now and every hour, sessions that exceed the configured age
 * (retention.c). */
void retention_begin(struct supervisor *sv);

/* --- calls to sessions (session_call.c, do_session.c) */

/* Checks a call's parameters and passes it to its handler or its session. */
void session_dispatch(OWN struct call *q);
/* Passes the call to its handler, or to the worker. */
void session_call(struct session *s, OWN struct call *q);
/* Passes the call to the worker, lets it wait for one, or refuses it, depending
 * on the state. */
void session_to_worker(struct session *s, OWN struct call *q);
/* Lets the call wait until the session is active, or cannot be. */
void session_wait(struct session *s, OWN struct call *q);
/* Serves the waiting calls, or refuses them. */
void session_serve_waiting(struct session *s);
/* Refuses the call because of the state. */
void session_refuse(const struct session *s, OWN struct call *q);
/* True if calls can be passed to the worker now. */
bool session_is_serving(const struct session *s);
/* Begins a life; q waits for it. */
void session_resume(struct session *s, enum cause cause, OWN struct call *q);

#endif

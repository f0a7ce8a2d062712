/* From calls to sessions, by the session's state. */
#include "supervisor/session/session.h"

#include "supervisor/config/config.h"
#include "supervisor/session/life.h"
#include "supervisor/session/methods.h"

#include <stdlib.h>
#include <string.h>

/* --- sessions that are not in the table */

/* The store knows those that have ended. */
struct lookup {
    struct store_job job;
    struct call *q;
    char id[SESSION_ID_BYTES];
    bool is_found;
    struct buf json;
};

static int
session_found(void *arg, const struct store_session *row)
{
    struct lookup *u = arg;

    u->is_found = true;
    session_put_row_json(row, &u->json);
    return 0;
}

static int
session_run_lookup(struct store *store, struct store_job *j)
{
    struct lookup *u = CONTAINER_OF(j, struct lookup, job);

    (void)store_session_get(store, u->id, session_found, u);
    return 0;
}

static void
session_call_lookup_done(struct store_job *j, int error)
{
    struct lookup *u = CONTAINER_OF(j, struct lookup, job);

    (void)error;
    if (!u->is_found) {
        answer_error(u->q, INVALID_PARAMS, "Unknown sessionId: %s", u->id);
    } else if (method_is(u->q->method, "session.get")) {
        struct buf *b = answer_begin(u->q);
        buf_add(b, u->json.p, u->json.len);
        answer_end(u->q);
    } else {
        answer_error(u->q, SESSION_ERROR, "Session ended: %s", u->id);
    }
    buf_fini(&u->json);
    free(u);
}

static void
session_look_up(OWN struct call *q, struct text id)
{
    struct lookup *u = calloc(1, sizeof *u);

    if (id.len != SESSION_ID_BYTES - 1 || !u) {
        free(u);
        answer_error(q, INVALID_PARAMS, "Unknown sessionId: %.200s", id.p);
        return;
    }
    u->job = (struct store_job){.kind = STORE_JOB_READ,
                                .run = session_run_lookup,
                                .done = session_call_lookup_done};
    u->q = q;
    memcpy(u->id, id.p, id.len);
    buf_init(&u->json, SIZE_MAX);
    store_thread_post(client_of(q)->sv->store_thread, &u->job);
}

/* --- to a session */

static void
session_dispatch_to(OWN struct call *q)
{
    const struct json *id = param(q, "sessionId");

    if (!id) {
        answer_error(q, INVALID_PARAMS, "Missing required param: sessionId");
        return;
    }
    if (!json_is(id, JSON_STRING)) {
        answer_error(q, INVALID_PARAMS, "sessionId must be a string");
        return;
    }
    routing_of(q)->session = sessions_find(client_of(q)->sv, json_text(id));
    if (!routing_of(q)->session)
        session_look_up(q, json_text(id));
    else
        session_call(routing_of(q)->session, q);
}

static void
session_refuse_at_end(OWN struct call *q)
{
    answer_error(q, SESSION_ERROR, "The supervisor is shutting down");
}

void
session_dispatch(OWN struct call *q)
{
    char error[PARAM_ERROR_BYTES];
    const struct method *m = q->method;

    if (m->refusal)
        answer_error(q, METHOD_NOT_FOUND, "Not here: %s: %s", m->name,
                     m->refusal);
    else if (client_of(q)->sv->is_ending)
        session_refuse_at_end(q);
    else if (method_check(&session_methods, m, q->params, error) < 0)
        answer_error(q, INVALID_PARAMS, "%s", error);
    else if (m->flags & NO_SESSION)
        m->handle(q);
    else
        session_dispatch_to(q);
}

/* --- by its state */

void
session_refuse(const struct session *s, OWN struct call *q)
{
    answer_error(q, SESSION_ERROR, "Session %s (%s%s%s)%s: %s",
                 session_state_names[s->state], cause_names[s->cause],
                 *s->reason ? ": " : "", s->reason,
                 s->state == SESSION_ended ? "" : "; session.resume starts it",
                 s->id);
}

void
session_wait(struct session *s, OWN struct call *q)
{
    list_remove(&q->link);
    list_push_back(&s->waiting, &q->link);
}

bool
session_is_serving(const struct session *s)
{
    return s->life && s->life->phase == LIFE_SERVING;
}

/* A call for the worker, or one that the worker has to commit before. */
void
session_to_worker(struct session *s, OWN struct call *q)
{
    if (s->command)
        answer_error(q, SESSION_ERROR,
                     "The session runs a command and has no sandbox: %s",
                     s->id);
    else if (session_is_serving(s))
        worker_link_send_call(s->life, q);
    else if (s->life) /* starting, or about to be paused */
        session_wait(s, q);
    else if (s->state == SESSION_paused && s->auto_resume)
        session_resume(s, CAUSE_call, q);
    else
        session_refuse(s, q);
}

void
session_call(struct session *s, OWN struct call *q)
{
    routing_of(q)->session = s;
    if (q->method->flags & ROUTED)
        session_to_worker(s, q);
    else
        q->method->handle(q);
}

/* A call that waited came before the session was paused, and is not refused
 * for that: it resumes the session, whatever autoResume says. */
static void
session_serve(struct session *s, OWN struct call *q)
{
    if (!s->life && s->state == SESSION_paused && q->method->flags & ROUTED)
        session_resume(s, CAUSE_call, q);
    else
        session_call(s, q);
}

/* Some may wait again. */
void
session_serve_waiting(struct session *s)
{
    struct list calls;

    list_init(&calls);
    if (!list_is_empty(&s->waiting))
        list_move(&s->waiting, &calls);
    while (!list_is_empty(&calls)) {
        struct call *q = CONTAINER_OF(calls.next, struct call, link);
        list_remove(&q->link);
        if (s->sv->is_ending) /* nothing is resumed any more */
            session_refuse_at_end(q);
        else
            session_serve(s, q);
    }
}

/* session.*: the handlers of sessions.def.
 *
 * A handler answers at once, posts a job to the store, or leaves its call in a
 * list of the session or its life. Each call is in one list at most, through
 * its `turn`. */
#include "supervisor/session/methods.h"
#include "supervisor/session/session.h"

#include "supervisor/config/config.h"
#include "supervisor/session/forward.h"
#include "supervisor/session/life.h"
#include "supervisor/session/not_copied.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUT_PART = 1 << 20 };

static void
session_no_memory(OWN struct call *q)
{
    answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
}

static void
session_answer(const struct session *s, OWN struct call *q)
{
    session_put_json(s, answer_begin(q));
    answer_end(q);
}

/* --- create */

/* All sessions except the ended ones, which are only counted since the
 * start. */
static size_t
session_n_sessions(const struct supervisor *sv)
{
    size_t n = 0;

    for (int i = 0; i < N_SESSION_STATES; i++)
        n += i == SESSION_ended ? 0 : sv->sessions.n_in_state[i];
    return n;
}

/* Starting sessions count as active: otherwise a burst of requests would exceed
 * the limit. */
static bool
session_has_room_for_life(struct supervisor *sv, struct call *q)
{
    size_t n = sv->sessions.n_in_state[SESSION_active] +
               sv->sessions.n_in_state[SESSION_starting];

    if (n < sv->config->max_active)
        return true;
    answer_error(q, SANDBOX_ERROR,
                 "EAGAIN: %zu sessions are active, the maximum (maxActive); "
                 "pause or end one",
                 n);
    return false;
}

static bool
session_has_room(struct supervisor *sv, struct call *q)
{
    if (session_n_sessions(sv) < sv->config->max_sessions)
        return session_has_room_for_life(sv, q);
    answer_error(q, SANDBOX_ERROR,
                 "EAGAIN: there are %zu sessions, the maximum (maxSessions); "
                 "end one",
                 session_n_sessions(sv));
    return false;
}

/* The store has the row of a new session, or cannot have it. The worker was
 * requested at the same time; the state machine waits for both. */
static void
session_created(struct session *s, void *arg, int error, const char *why)
{
    struct outcome o = {.state = SESSION_ended, .cause = CAUSE_store};

    (void)arg;
    if (error == 0) {
        life_event(s->life, LIFE_ROW, NULL);
        return;
    }
    s->is_lost = true;
    (void)snprintf(o.reason, sizeof o.reason, "%s", why);
    life_event(s->life, LIFE_ROW_FAILED, &o);
}

static bool
session_is_durability(const char *text)
{
    return !text || !strcmp(text, "full") || !strcmp(text, "interval");
}

/* The worker and the row in the store are requested at the same time, because
 * each takes milliseconds. */
void
do_session_create(struct call *q)
{
    struct supervisor *sv = client_of(q)->sv;

    if (!session_is_durability(param_text(q, "durability"))) {
        answer_error(q, INVALID_PARAMS,
                     "durability must be \"full\" or \"interval\"");
        return;
    }
    if (!session_has_room(sv, q))
        return;
    struct session_image *image;
    if (!images_choose(sv, q, &image))
        return;
    struct session *s = session_new(sv, NULL);
    if (!s) {
        session_no_memory(q);
        return;
    }
    if (session_take_options(s, q) < 0) {
        session_forget(s);
        return;
    }
    if (life_begin(s, LIFE_NEW_WANTING) < 0) {
        session_forget(s);
        session_no_memory(q);
        return;
    }
    s->life->creator = q;
    if (!s->command)
        session_set_image(s, image);
    session_enter(s, &(struct session_change){.to = SESSION_starting,
                                              .cause = CAUSE_created,
                                              .done = session_created});
    lives_take_workers(sv);
}

/* --- list */

/* A session.list: the store thread writes the JSON, and the loop answers. */
struct session_listing {
    struct store_job job;
    struct call *q;
    struct store_filter filter;
    struct buf json;
    uint32_t n;
    uint64_t last;
};

static int
session_list_row(void *arg, const struct store_session *row)
{
    struct session_listing *u = arg;

    buf_puts(&u->json, u->n++ ? "," : "");
    session_put_row_json(row, &u->json);
    u->last = row->number;
    return u->json.error;
}

static int
session_run_list(struct store *store, struct store_job *j)
{
    struct session_listing *u = CONTAINER_OF(j, struct session_listing, job);

    return store_session_list(store, &u->filter, session_list_row, u);
}

/* A full page has a `next`, from which the client continues. */
static void
session_list_done(struct store_job *j, int error)
{
    struct session_listing *u = CONTAINER_OF(j, struct session_listing, job);

    if (error < 0) {
        answer_error(u->q, SANDBOX_ERROR, "EIO: sessions: %s", j->why);
    } else {
        struct buf *b = answer_begin(u->q);
        buf_puts(b, "{\"sessions\":[");
        buf_add(b, u->json.p, u->json.len);
        buf_puts(b, "]");
        if (u->n == u->filter.max)
            put_number(b, "next", u->last);
        buf_puts(b, "}");
        answer_end(u->q);
    }
    buf_fini(&u->json);
    free(u);
}

/* True for the names of states in states.def. */
static bool
session_is_state(const char *name)
{
    for (int i = 0; i < N_SESSION_STATES; i++)
        if (!strcmp(name, session_state_names[i]))
            return true;
    return false;
}

/* The list comes from the store, because ended sessions are not in memory.
 * Filters are applied by the store, too. */
void
do_session_list(struct call *q)
{
    const char *state = param_text(q, "state");

    if (state && !session_is_state(state)) {
        answer_error(q, INVALID_PARAMS,
                     "state must be starting, active, paused, stopped, ended "
                     "or error");
        return;
    }
    struct session_listing *u = calloc(1, sizeof *u);
    if (!u) {
        session_no_memory(q);
        return;
    }
    bool is_ended = state && !strcmp(state, "ended");
    u->job = (struct store_job){.kind = STORE_JOB_READ,
                                .run = session_run_list,
                                .done = session_list_done};
    u->q = q;
    u->filter =
        (struct store_filter){.agent = param_text(q, "agent"),
                              .state = state,
                              .with_ended = param_bool(q, "ended", is_ended),
                              .after = (uint64_t)param_int(q, "after", 0),
                              .max = (uint32_t)param_int(q, "limit", 100)};
    buf_init(&u->json, SIZE_MAX);
    store_thread_post(client_of(q)->sv->store_thread, &u->job);
}

void
do_session_get(struct call *q)
{
    session_answer(routing_of(q)->session, q);
}

/* --- out of a life */

/* Ends the life with the state `to`. The calls are answered when the store has
 * that state. A session that is starting becomes active first. */
static void
session_leave(struct session *s, OWN struct call *q, enum life_event event,
              enum session_state to)
{
    const struct outcome o = {.state = to, .cause = CAUSE_requested};

    if (s->state == SESSION_starting) {
        session_wait(s, q);
        return;
    }
    list_push_back(&s->life->leavers, &q->link);
    life_event(s->life, event, &o);
}

/* The state is the new one in memory, even if the store did not save it;
 * session_state.c tries again. */
static void
session_entered(struct session *s, void *arg, int error, const char *why)
{
    struct call *q = arg;

    if (error < 0)
        answer_error(q, SANDBOX_ERROR,
                     "EIO: the session's state was not "
                     "saved: %s",
                     why);
    else
        session_answer(s, q);
}

/* Changes the state of a session without a life, and answers when the store has
 * the change. */
static void
session_enter_for(struct session *s, OWN struct call *q, enum session_state to)
{
    session_enter(s, &(struct session_change){.to = to,
                                              .cause = CAUSE_requested,
                                              .done = session_entered,
                                              .arg = q});
}

/* A native command cannot be paused: its memory is not saved. */
void
do_session_pause(struct call *q)
{
    struct session *s = routing_of(q)->session;

    if (s->command)
        answer_error(q, SESSION_ERROR,
                     "The session runs a command, whose state "
                     "cannot be saved; session.stop ends it: %s",
                     s->id);
    else if (s->life)
        session_leave(s, q, LIFE_PAUSE, SESSION_paused);
    else if (s->state == SESSION_paused)
        session_answer(s, q);
    else
        session_refuse(s, q);
}

/* A paused session is stopped by changing its state only: its state is saved
 * already. */
void
do_session_stop(struct call *q)
{
    struct session *s = routing_of(q)->session;

    if (s->life)
        session_leave(s, q, LIFE_STOP, SESSION_stopped);
    else if (s->state == SESSION_paused)
        session_enter_for(s, q, SESSION_stopped);
    else if (s->state == SESSION_stopped)
        session_answer(s, q);
    else
        session_refuse(s, q);
}

/* --- resume */

/* A call for the worker waits for the active session and is then served.
 * session.resume itself is only answered. */
void
session_resume(struct session *s, enum cause cause, OWN struct call *q)
{
    if (!session_has_room_for_life(s->sv, q))
        return;
    if (life_begin(s, LIFE_WANTING) < 0) {
        session_no_memory(q);
        return;
    }
    if (q->method->flags & ROUTED || routing_of(q)->follow)
        session_wait(s, q);
    else
        list_push_back(&s->life->resumers, &q->link);
    session_enter(
        s, &(struct session_change){.to = SESSION_starting, .cause = cause});
    lives_take_workers(s->sv);
}

/* A session that is about to be paused is first paused, and then resumed: its
 * worker cannot be stopped half-way. */
void
do_session_resume(struct call *q)
{
    struct session *s = routing_of(q)->session;

    if (session_is_serving(s))
        session_answer(s, q);
    else if (s->state == SESSION_starting)
        list_push_back(&s->life->resumers, &q->link);
    else if (s->life) /* about to be paused */
        session_wait(s, q);
    else if (s->state == SESSION_ended)
        session_refuse(s, q);
    else
        session_resume(s, CAUSE_requested, q);
}

/* --- fork */

/* A fork that the store rejects is forgotten, as if it had never existed. */
static void
session_forked(struct session *s, void *arg, int error, const char *why)
{
    struct call *q = arg;

    if (error < 0) {
        answer_error(q, SANDBOX_ERROR, "EIO: no fork: %s", why);
        session_forget(s);
        return;
    }
    session_put_copied(s, answer_begin(q));
    answer_end(q);
}

/* Returns a new session with the options of s, or NULL. */
static struct session *
session_copy_of(const struct session *s, const char *label)
{
    struct session *n = session_new(s->sv, NULL);

    if (!n)
        return NULL;
    n->agent = strdup(s->agent);
    n->label = strdup(label ? label : s->label);
    n->limits = strdup(s->limits);
    n->options = strdup(s->options);
    n->is_interval = s->is_interval;
    n->has_state = s->has_state;
    session_set_image(n, s->image);
    if (n->agent && n->label && n->limits && n->options &&
        session_read_options(n) == 0) {
        /* Two sessions cannot listen on the same port of the host. */
        session_forward_free_all(n);
        if (session_write_options(n) == 0)
            return n;
    }
    session_forget(n);
    return NULL;
}

/* Called when the store has everything up to this moment: at once for a session
 * without a life, or after a commit of its worker. */
static void
session_fork_now(struct call *q)
{
    struct session *s = routing_of(q)->session;

    if (session_n_sessions(s->sv) >= s->sv->config->max_sessions) {
        answer_error(
            q, SANDBOX_ERROR,
            "EAGAIN: there are %zu sessions, the maximum (maxSessions); "
            "end one",
            session_n_sessions(s->sv));
        return;
    }
    struct session *n = session_copy_of(s, param_text(q, "label"));
    if (!n) {
        session_no_memory(q);
        return;
    }
    session_enter(n, &(struct session_change){.to = SESSION_paused,
                                              .cause = CAUSE_forked,
                                              .forked_from = s,
                                              .done = session_forked,
                                              .arg = q});
}

/* A session with a worker commits first. The fork then has everything up to
 * this call. */
void
do_session_fork(struct call *q)
{
    struct session *s = routing_of(q)->session;
    const char *label = param_text(q, "label");

    if (label && strlen(label) > LABEL_BYTES_MAX) {
        answer_error(q, INVALID_PARAMS, "label must have at most %d bytes",
                     LABEL_BYTES_MAX);
    } else if (s->command) {
        answer_error(q, SESSION_ERROR,
                     "The session runs a command, whose state "
                     "cannot be copied: %s",
                     s->id);
    } else if (s->state == SESSION_ended) {
        session_refuse(s, q);
    } else if (s->life) {
        routing_of(q)->follow = session_fork_now;
        session_to_worker(s, q);
    } else {
        session_fork_now(q);
    }
}

/* --- the output of a command */

/* `at` and `end` are positions in the whole output, so the client can continue
 * from `end`. */
static void
session_answer_output(OWN struct call *q, const char *p, size_t len,
                      uint64_t at)
{
    struct buf *b = answer_begin(q);

    buf_puts(b, "{");
    put_name(b, "data");
    put_base64(b, p, len);
    put_number(b, "at", at);
    put_number(b, "end", at + len);
    buf_puts(b, "}");
    answer_end(q);
}

/* Answers from the output that was kept when the command ended. */
static void
session_answer_kept(const struct session *s, OWN struct call *q, uint64_t after)
{
    size_t skip = after > s->output_at ? after - s->output_at : 0;

    if (skip > s->output_len)
        skip = s->output_len;
    session_answer_output(q, s->output + skip, s->output_len - skip,
                          s->output_at + skip);
}

/* The position `after` lets a client read the output in parts without losing or
 * repeating any, as long as it stays in the ring. */
void
do_session_output(struct call *q)
{
    const struct session *s = routing_of(q)->session;
    uint64_t after = (uint64_t)param_int(q, "after", 0), at;

    if (!s->command) {
        answer_error(q, SESSION_ERROR, "The session has no command: %s", s->id);
        return;
    }
    if (!s->life || !s->life->worker) {
        session_answer_kept(s, q, after);
        return;
    }
    char *p = malloc(OUTPUT_PART);
    if (!p) {
        session_no_memory(q);
        return;
    }
    size_t n = worker_output(s->life->worker, after, p, OUTPUT_PART, &at);
    session_answer_output(q, p, n, at);
    free(p);
}

/* Changes of state: in memory at once, in the store as row and event.
 *
 * Memory is ahead of the store for a moment. Clients that wait for a change are
 * answered only when the store has it. A change that the store cannot save, for
 * example on a full disk, is tried again every second, with the state as it is
 * then. */
#include "supervisor/session/session.h"

#include "supervisor/session/events.h"
#include "supervisor/session/not_copied.h"
#include "supervisor/session/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAVE_AGAIN_NS NS_PER_S
enum { FACTS_BYTES = 32 << 10 };

/* A change on its way to the store. Holds a reference to the session. */
struct change {
    struct store_job job;
    struct list link; /* in supervisor.unsaved */
    struct session *s;
    struct store_session row;
    char cause[REASON_BYTES + 32]; /* "cause" or "cause: reason" */
    bool is_new, row_has_ended;
    char from[SESSION_ID_BYTES]; /* the session it is a fork of */
    char *event;                 /* JSON */
    char *options;               /* those of the session may be replaced */
    const char *kind;            /* of the event */
    enum session_state to;
    int64_t time_ms;
    session_change_done *done;
    void *arg;
    struct buf frames; /* the first records of a fork */
};

/* --- on the store thread */

/* The kind of write follows from the change: a fork, a new row, an end or an
 * update. */
static int
session_state_store_row(struct store *store, const struct change *c)
{
    if (*c->from)
        return store_fork(store, c->from, &c->row);
    if (c->is_new)
        return store_session_create(store, &c->row);
    if (c->row_has_ended) /* session.end did it before */
        return 0;
    if (c->to == SESSION_ended)
        return store_session_end(store, &c->row);
    return store_session_update(store, &c->row);
}

/* Row and event are one operation, so the event list never disagrees with the
 * rows. A fork also reads its first records, to report processes that were not
 * copied. */
static int
session_state_run_change(struct store *store, struct store_job *j)
{
    struct change *c = CONTAINER_OF(j, struct change, job);
    struct store_cursor cursor = {0};
    struct store_event e = {.time_ms = c->time_ms,
                            .session = c->row.id,
                            .agent = c->row.agent,
                            .kind = c->kind,
                            .cause = c->cause,
                            .figures = c->event};

    int r = session_state_store_row(store, c);
    if (r == 0 && *c->from &&
        store_read(store, c->row.id, FACTS_BYTES, &cursor, &c->frames) < 0)
        c->frames.len = 0; /* a fork of a damaged state is repaired later */
    return r < 0 ? r : store_event_append(store, &e, NULL);
}

/* Stopping or ending a session may use the reserve of a full disk. */
static bool
session_state_makes_space(struct store *store, struct store_job *j)
{
    const struct change *c = CONTAINER_OF(j, struct change, job);

    (void)store;
    return c->to == SESSION_ended || c->to == SESSION_stopped;
}

/* --- on the loop's */

static void
change_free(struct change *c)
{
    struct session *s = c->s;

    buf_fini(&c->frames);
    free(c->event);
    free(c->options);
    free(c);
    session_put(s);
}

/* Without memory, the options stay those of the row before. */
static void
session_state_fill_row(struct change *c)
{
    char *options = strdup(c->s->options);

    session_row(c->s, &c->row);
    c->row.cause = c->cause;
    if (options) {
        free(c->options);
        c->options = options;
    }
    c->row.options = c->options;
}

/* Tries once more, with the session as it is now. */
static void
session_state_save_again(struct reactor_timer *t)
{
    struct supervisor *sv = CONTAINER_OF(t, struct supervisor, save_again);

    LIST_FOR_EACH_SAFE(it, &sv->unsaved) {
        struct change *c = CONTAINER_OF(it, struct change, link);
        list_remove(&c->link);
        session_state_fill_row(c);
        store_thread_post(sv->store_thread, &c->job);
    }
}

/* Waiting calls have been answered with an error, but the store should have the
 * change nevertheless. */
static void
session_state_keep_unsaved(struct change *c)
{
    struct supervisor *sv = c->s->sv;

    list_push_back(&sv->unsaved, &c->link);
    sv->save_again.fire = session_state_save_again;
    reactor_set_timer(&sv->reactor, &sv->save_again,
                      time_mono_ns() + SAVE_AGAIN_NS);
}

void
session_forget_unsaved(struct supervisor *sv)
{
    LIST_FOR_EACH_SAFE(it, &sv->unsaved) {
        struct change *c = CONTAINER_OF(it, struct change, link);
        list_remove(&c->link);
        change_free(c);
    }
}

/* A new session that cannot be saved does not exist, so it is not tried
 * again. */
static void
session_state_change_done(struct store_job *j, int error)
{
    struct change *c = CONTAINER_OF(j, struct change, job);
    struct session *s = c->s;
    session_change_done *done = c->done;

    if (error < 0)
        say(s->sv, LEVEL_error,
            "session %s: the store did not save its state: %s", s->id, j->why);
    else
        events_happened(s->sv);
    c->done = NULL;
    if (error == 0 && *c->from)
        session_keep_not_copied(s, c->frames.p, c->frames.len);
    if (done)
        done(s, c->arg, error, j->why);
    if (error < 0 && error != -ENOENT && !c->is_new)
        session_state_keep_unsaved(c);
    else
        change_free(c);
}

/* Writes the members of an event that the store has no column for. NULL: no
 * memory. */
static char *
session_state_event_json(const struct session *s, enum session_state from,
                         bool is_new, const struct session_change *c)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_puts(&b, "{");
    put_name(&b, "label");
    put_text(&b, s->label);
    put_name(&b, "from");
    if (is_new)
        buf_puts(&b, "null");
    else
        put_text(&b, session_state_names[from]);
    if (c->forked_from) {
        put_name(&b, "forkedFrom");
        put_text(&b, c->forked_from->id);
    }
    put_name(&b, "figures");
    buf_puts(&b, c->figures ? c->figures : "{}");
    buf_puts(&b, "}");
    buf_add(&b, "", 1);
    if (b.error)
        buf_fini(&b);
    return buf_steal(&b);
}

/* A change that nobody waits for need not be durable at once: the next
 * supervisor pauses a session without a worker in any case. */
static enum store_job_kind
session_state_kind_of(const struct session_change *c)
{
    return c->done || c->to == SESSION_ended || c->to == SESSION_stopped
               ? STORE_JOB_WRITE
               : STORE_JOB_INTERVAL;
}

static void
session_state_log_change(const struct session *s, enum session_state from,
                         bool is_new)
{
    say(s->sv, LEVEL_info, "session %s%s%s: %s to %s: %s%s%s", s->id,
        *s->agent ? " of " : "", s->agent,
        is_new ? "new" : session_state_names[from],
        session_state_names[s->state], cause_names[s->cause],
        *s->reason ? ": " : "", s->reason);
}

/* Changes the state in memory, with its counters. */
static void
session_state_set(struct session *s, const struct session_change *c)
{
    struct sessions *t = &s->sv->sessions;

    t->n_in_state[s->state]--;
    t->n_in_state[c->to]++;
    s->state = c->to;
    s->cause = c->cause;
    s->changed_ms = time_wall_ms();
    (void)snprintf(s->reason, sizeof s->reason, "%s",
                   c->reason ? c->reason : "");
    s->sv->counters.entered[c->to][c->cause]++;
}

static bool
session_state_is_new(const struct session_change *c)
{
    return c->cause == CAUSE_created || c->cause == CAUSE_forked;
}

/* Posts the row and an event to the store. Without memory, the change is in
 * memory only, and the caller is notified of the error. */
static void
session_state_post(struct session *s, const struct session_change *c,
                   const char *kind, OWN char *event)
{
    struct change *n = event ? calloc(1, sizeof *n) : NULL;
    char *options = n ? strdup(s->options) : NULL;

    if (!options) {
        free(event);
        free(n);
        if (c->done)
            c->done(s, c->arg, -ENOMEM, "out of memory");
        return;
    }
    *n = (struct change){.job = {.kind = session_state_kind_of(c),
                                 .run = session_state_run_change,
                                 .done = session_state_change_done,
                                 .may_use_reserve = session_state_makes_space,
                                 .bytes = strlen(event) + sizeof *n},
                         .s = session_get(s),
                         .is_new = session_state_is_new(c),
                         .row_has_ended = s->row_has_ended,
                         .event = event,
                         .options = options,
                         .kind = kind,
                         .to = c->to,
                         .time_ms = s->changed_ms,
                         .done = c->done,
                         .arg = c->arg};
    buf_init(&n->frames, SIZE_MAX);
    (void)snprintf(n->cause, sizeof n->cause, "%s%s%s", cause_names[s->cause],
                   *s->reason ? ": " : "", s->reason);
    if (c->forked_from)
        memcpy(n->from, c->forked_from->id, sizeof n->from);
    session_state_fill_row(n);
    store_thread_post(s->sv->store_thread, &n->job);
}

void
session_enter(struct session *s, const struct session_change *c)
{
    bool is_new = session_state_is_new(c);
    enum session_state from = s->state;

    session_state_set(s, c);
    if (c->json)
        session_put_json(s, c->json);
    session_state_log_change(s, from, is_new);
    session_state_post(s, c, session_state_names[c->to],
                       session_state_event_json(s, from, is_new, c));
}

/* The cause of a session that exists is never that of a new one. */
void
session_note(struct session *s, const char *kind, OWN char *event,
             session_change_done *done, void *arg)
{
    const struct session_change c = {.to = s->state,
                                     .cause = CAUSE_requested,
                                     .reason = s->reason,
                                     .done = done,
                                     .arg = arg};

    session_state_post(s, &c, kind, event);
}

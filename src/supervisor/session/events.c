/* session.events: reads events from the store, and waits for more.
 *
 * An event may arrive while a waiter reads. has_news records that, and the
 * waiter reads again when it found nothing. No event is missed, because the
 * flag is cleared before the read is posted. */
#include "supervisor/session/events.h"

#include "supervisor/session/methods.h"
#include "supervisor/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One session.events call. The store thread uses the last members while
 * is_reading is set. */
struct event_waiter {
    struct store_job job;
    struct list link; /* in supervisor.event_waiters */
    struct supervisor *sv;
    struct call *q;
    struct reactor_timer timer;
    bool is_reading, is_over;
    bool has_news; /* since it began to read */
    /* of the store thread while it reads */
    char session[SESSION_ID_BYTES];
    uint64_t after, last;
    uint32_t max, n;
    struct buf events;
};

/* --- on the store thread */

/* Appends the members of `json`, an object of ours, to the current object. An
 * empty object "{}" adds nothing. */
static void
events_put_members(struct buf *b, const char *json)
{
    size_t len = strlen(json);

    if (len < 4)
        return;
    buf_puts(b, ",");
    buf_add(b, json + 1, len - 2);
}

/* The text of the cause may be "cause: reason", which become two members. */
static void
events_put_change(struct buf *b, const struct store_event *e)
{
    const char *colon = strstr(e->cause, ": ");

    put_name(b, "to");
    put_text(b, e->kind);
    put_name(b, "cause");
    put_string(b, e->cause,
               colon ? (size_t)(colon - e->cause) : strlen(e->cause));
    if (colon) {
        put_name(b, "reason");
        put_text(b, colon + 2);
    }
}

/* Runs on the store thread. Kinds with a dot are no states. */
static int
events_put_event(void *arg, const struct store_event *e)
{
    struct event_waiter *w = arg;
    struct buf *b = &w->events;

    buf_puts(b, w->n++ ? ",{" : "{");
    put_number(b, "seq", e->seq);
    put_number(b, "time", (uint64_t)e->time_ms);
    put_name(b, "sessionId");
    put_text(b, e->session);
    put_name(b, "agent");
    put_text(b, e->agent);
    if (strchr(e->kind, '.')) {
        put_name(b, "kind");
        put_text(b, e->kind);
    } else {
        events_put_change(b, e);
    }
    events_put_members(b, e->figures);
    buf_puts(b, "}");
    w->last = e->seq;
    return b->error;
}

/* Runs on the store thread, which owns the list of events meanwhile. */
static int
events_read_events(struct store *store, struct store_job *j)
{
    struct event_waiter *w = CONTAINER_OF(j, struct event_waiter, job);

    return store_event_list(store, *w->session ? w->session : NULL, w->after,
                            w->max, events_put_event, w);
}

/* --- on the loop's */

/* Answers and frees the waiter. */
static void
waiter_answer(struct event_waiter *w, int error)
{
    struct call *q = w->q;

    if (error < 0) {
        answer_error(q, SANDBOX_ERROR, "EIO: events: %s", w->job.why);
    } else {
        struct buf *b = answer_begin(q);
        buf_puts(b, "{\"events\":[");
        buf_add(b, w->events.p, w->events.len);
        buf_puts(b, "]");
        put_number(b, "last", w->last);
        buf_puts(b, "}");
        answer_end(q);
    }
    reactor_set_timer(&w->sv->reactor, &w->timer, 0);
    list_remove(&w->link);
    buf_fini(&w->events);
    free(w);
}

/* Posts a read. The flag is cleared first, so that news during the read are
 * noticed. */
static void
waiter_read(struct event_waiter *w)
{
    w->is_reading = true;
    w->has_news = false;
    store_thread_post(w->sv->store_thread, &w->job);
}

/* A client that is gone gets its answer, too: the call must end, and the answer
 * is dropped. */
static void
events_read_done(struct store_job *j, int error)
{
    struct event_waiter *w = CONTAINER_OF(j, struct event_waiter, job);

    w->is_reading = false;
    if (error < 0 || w->n || w->is_over || client_of(w->q)->is_gone)
        waiter_answer(w, error);
    else if (w->has_news)
        waiter_read(w);
}

/* The time is over. A read in progress is not interrupted: its end answers. */
static void
events_end_wait(struct event_waiter *w)
{
    w->is_over = true;
    if (!w->is_reading)
        waiter_answer(w, 0);
}

static void
events_time_over(struct reactor_timer *t)
{
    events_end_wait(CONTAINER_OF(t, struct event_waiter, timer));
}

void
events_happened(struct supervisor *sv)
{
    LIST_FOR_EACH_SAFE(it, &sv->event_waiters) {
        struct event_waiter *w = CONTAINER_OF(it, struct event_waiter, link);
        w->has_news = true;
        if (!w->is_reading)
            waiter_read(w);
    }
}

void
events_end_waits(struct supervisor *sv)
{
    LIST_FOR_EACH_SAFE(it, &sv->event_waiters)
        events_end_wait(CONTAINER_OF(it, struct event_waiter, link));
}

void
events_forget_client(struct supervisor *sv, const struct client *c)
{
    LIST_FOR_EACH_SAFE(it, &sv->event_waiters) {
        struct event_waiter *w = CONTAINER_OF(it, struct event_waiter, link);
        if (client_of(w->q) == c)
            events_end_wait(w);
    }
}

/* Without waitMs, is_over is set from the start, and the first read answers. */
void
do_events(struct call *q)
{
    struct supervisor *sv = client_of(q)->sv;
    const char *session = param_text(q, "sessionId");
    int64_t wait_ms = param_int(q, "waitMs", 0);
    struct event_waiter *w = calloc(1, sizeof *w);

    if (!w) {
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
        return;
    }
    *w = (struct event_waiter){.job = {.kind = STORE_JOB_READ,
                                       .run = events_read_events,
                                       .done = events_read_done},
                               .sv = sv,
                               .q = q,
                               .timer.fire = events_time_over,
                               .is_over = !wait_ms,
                               .after = (uint64_t)param_int(q, "after", 0),
                               .max = (uint32_t)param_int(q, "limit", 100)};
    w->last = w->after;
    buf_init(&w->events, SIZE_MAX);
    if (session)
        (void)snprintf(w->session, sizeof w->session, "%s", session);
    list_push_back(&sv->event_waiters, &w->link);
    if (wait_ms)
        reactor_set_timer(&sv->reactor, &w->timer,
                          time_mono_ns() + wait_ms * NS_PER_MS);
    waiter_read(w);
}

/* session.end: the store records the end first. Only then is the worker killed
 * and the session forgotten. An end that the store rejects changes nothing, and
 * can be tried again. */
#include "supervisor/session/life.h"
#include "supervisor/session/methods.h"
#include "supervisor/session/session.h"

#include <stdlib.h>

/* A session.end in progress. Further calls join it, and all of them get the
 * same answer. */
struct end {
    struct store_job job;
    struct session *s;
    struct store_session row;
    struct list calls; /* all are answered alike */
};

static int
do_end_run(struct store *store, struct store_job *j)
{
    return store_session_end(store, &CONTAINER_OF(j, struct end, job)->row);
}

/* An ended session frees its space, so it may use the reserve of a full
 * disk. */
static bool
do_end_makes_space(struct store *store, struct store_job *j)
{
    (void)store;
    (void)j;
    return true;
}

/* The next of the calls, or NULL. */
static struct call *
end_take_call(struct end *e)
{
    if (list_is_empty(&e->calls))
        return NULL;
    struct call *q = CONTAINER_OF(e->calls.next, struct call, link);
    list_remove(&q->link);
    return q;
}

static void
end_free(struct end *e)
{
    struct session *s = e->s;

    free(e);
    session_put(s);
}

/* The session has ended in the store. The event about it may still wait for
 * space on the disk. */
static void
do_end_entered(struct session *s, void *arg, int error, const char *why)
{
    struct end *e = arg;
    struct call *q;

    (void)error;
    (void)why;
    session_forget(s);
    while ((q = end_take_call(e))) {
        session_put_json(s, answer_begin(q));
        answer_end(q);
    }
    end_free(e);
}

static void
end_refuse(struct end *e, const char *why)
{
    struct call *q;

    while ((q = end_take_call(e)))
        answer_error(q, SANDBOX_ERROR, "EIO: the session was not ended: %s",
                     why);
    end_free(e);
}

/* The calls wait for the end of the worker, which answers them. */
static void
end_life(struct end *e, struct life *l)
{
    struct call *q;

    while ((q = end_take_call(e)))
        list_push_back(&l->leavers, &q->link);
    life_kill(l, SESSION_ended, CAUSE_requested, "%s", "");
    end_free(e);
}

/* From here on the session has ended, whatever happens to its worker. */
static void
do_end_done(struct store_job *j, int error)
{
    struct end *e = CONTAINER_OF(j, struct end, job);
    struct session *s = e->s;

    s->end = NULL;
    if (error < 0) {
        end_refuse(e, j->why);
        return;
    }
    s->row_has_ended = true;
    if (s->life)
        end_life(e, s->life);
    else
        session_enter(s, &(struct session_change){.to = SESSION_ended,
                                                  .cause = CAUSE_requested,
                                                  .done = do_end_entered,
                                                  .arg = e});
}

/* Posts the end, or joins one in progress. */
void
do_session_end(struct call *q)
{
    struct session *s = routing_of(q)->session;
    struct end *e = s->end;

    if (s->state == SESSION_ended || s->row_has_ended) {
        session_refuse(s, q);
        return;
    }
    if (!e)
        e = calloc(1, sizeof *e);
    if (!e) {
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
        return;
    }
    if (!s->end) {
        *e = (struct end){.job = {.kind = STORE_JOB_WRITE,
                                  .run = do_end_run,
                                  .done = do_end_done,
                                  .may_use_reserve = do_end_makes_space},
                          .s = session_get(s)};
        list_init(&e->calls);
        session_row(s, &e->row);
        e->row.state = session_state_names[SESSION_ended];
        e->row.cause = cause_names[CAUSE_requested];
        e->row.changed_ms = time_wall_ms();
        s->end = e;
        store_thread_post(s->sv->store_thread, &e->job);
    }
    list_push_back(&e->calls, &q->link);
}

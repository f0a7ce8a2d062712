/* A session whose state is damaged.
 *
 * Damage is found while the state is loaded, when part of it has been sent to
 * the worker. That part is cancelled, the store repairs the rest, and the state
 * is loaded again. Each file that is lost is an event, up to EVENTS_MAX. */
#include "supervisor/session/repair.h"

#include "record/record.h"
#include "store/thread.h"
#include "supervisor/session/events.h"
#include "supervisor/session/life.h"
#include "supervisor/session/say.h"
#include "supervisor/session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX = 100, TEXT_BYTES = 1280 };

/* The job of the store thread, which owns the last members until it is done. */
struct repair {
    struct store_job job;
    struct life *l;
    /* of the store thread until it is done */
    struct store *store;
    struct store_event event;
    uint32_t n;
    int error;
    char first[REASON_BYTES];
};

/* Appends an event with the cause `damaged` for a session that stays in its
 * state. */
static int
repair_append_event(struct store *store, struct store_event e,
                    const char *label, const char *path, const char *text)
{
    char cause[TEXT_BYTES + 32];
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_puts(&b, "{");
    put_name(&b, "label");
    put_text(&b, label);
    put_name(&b, "from");
    put_text(&b, e.kind);
    put_name(&b, "path");
    put_text(&b, path);
    buf_puts(&b, "}");
    buf_add(&b, "", 1);
    (void)snprintf(cause, sizeof cause, "%s: %s", cause_names[CAUSE_damaged],
                   text);
    e.cause = cause;
    e.figures = b.p;
    int r = b.error ? b.error : store_event_append(store, &e, NULL);
    buf_fini(&b);
    return r;
}

/* --- on the store thread */

/* The first error ends the list of events, and the whole repair. */
static void
repair_put_event(struct repair *m, const char *path, const char *text)
{
    m->error =
        repair_append_event(m->store, m->event, m->l->s->label, path, text);
}

/* The first finding is kept for the log. */
static void
repair_on_finding(void *arg, const struct store_finding *f)
{
    struct repair *m = arg;
    char text[TEXT_BYTES];

    (void)snprintf(text, sizeof text, "%s%s%s%s", f->path, *f->path ? ": " : "",
                   f->what, f->is_repaired ? "" : " (not repaired)");
    if (!m->n++)
        (void)snprintf(m->first, sizeof m->first, "%.255s", text);
    if (m->error == 0 && m->n <= EVENTS_MAX)
        repair_put_event(m, f->path, text);
}

/* Repair and events are one operation: no loss is without its event. */
static int
repair_run(struct store *store, struct store_job *j)
{
    struct repair *m = CONTAINER_OF(j, struct repair, job);
    char text[64];

    m->store = store;
    m->n = 0;
    m->error = 0;
    int r = store_repair(store, m->event.session, true, repair_on_finding, m);
    if (r < 0)
        return r;
    (void)snprintf(text, sizeof text, "and %u more", m->n - EVENTS_MAX);
    if (m->error == 0 && m->n > EVENTS_MAX)
        repair_put_event(m, "", text);
    return m->error;
}

/* --- on the loop's */

/* Sends an end frame with a special number: the worker drops the part of the
 * state that it has received, and answers the request. */
static void
repair_break_off(struct life *l)
{
    const struct record_head h = {RECORD_END, 0, RECORD_END_BYTES};
    uint8_t frame[RECORD_HEAD_BYTES + RECORD_END_BYTES];

    record_head_put(&h, frame);
    record_end_put(RECORD_BROKEN_OFF, frame + RECORD_HEAD_BYTES);
    outbox_put(&l->load.out, frame, sizeof frame);
}

/* Both the store and the worker are ready for a second attempt. */
static void
repair_load_again(struct life *l)
{
    l->load.phase = LOAD_NONE;
    if (!life_is_loading(l))
        return;
    worker_link_ask(l, ASK_LOAD, "state.load", NULL);
    state_load_begin(l);
}

/* If the worker has dropped its part already, loading starts again now.
 * Otherwise repair_broken_off does it. */
static void
repair_done(struct store_job *j, int error)
{
    struct repair *m = CONTAINER_OF(j, struct repair, job);
    struct life *l = m->l;
    struct supervisor *sv = l->s->sv;
    bool has_forgotten = l->load.phase == LOAD_FORGOTTEN;

    l->load.phase = LOAD_FORGETTING;
    if (error == 0) {
        say(sv, LEVEL_warn,
            "session %s: repaired %u damaged records; the first: %s", l->s->id,
            m->n, m->first);
        events_happened(sv);
    }
    if (life_is_reaped(l))
        life_job_done(l);
    else if (error < 0)
        life_kill(l, SESSION_error, CAUSE_failed,
                  "the state is damaged and could not be repaired: %s", j->why);
    else if (has_forgotten)
        repair_load_again(l);
    free(m);
}

/* A state is repaired once for each life: a second failure means that the
 * repair did not help. */
int
repair_begin(struct life *l)
{
    bool can = life_is_loading(l) && !l->load.n_repairs;
    struct repair *m = can ? calloc(1, sizeof *m) : NULL;

    if (!m)
        return -1;
    *m = (struct repair){
        .job = {.kind = STORE_JOB_WRITE,
                .run = repair_run,
                .done = repair_done},
        .l = l,
        .event = {.time_ms = time_wall_ms(),
                  .session = l->s->id,
                  .agent = l->s->agent,
                  .kind = session_state_names[SESSION_starting]}};
    l->load.n_repairs++;
    l->load.phase = LOAD_REPAIRING;
    repair_break_off(l);
    store_thread_post(l->s->sv->store_thread, &m->job);
    return 0;
}

/* The worker has dropped its part. If the store is not done yet, it continues
 * from there. */
void
repair_broken_off(struct life *l)
{
    if (l->load.phase == LOAD_REPAIRING)
        l->load.phase = LOAD_FORGOTTEN;
    else
        repair_load_again(l);
}

/* --- damage that was found when the store was opened, before its thread
 * exists */

struct repair_findings {
    struct supervisor *sv;
    struct store *store;
    const char *text;
    int error;
};

/* The event belongs to the state that the session has now. */
static int
repair_append_for(void *arg, const struct store_session *row)
{
    const struct repair_findings *f = arg;
    struct store_event e = {.time_ms = time_wall_ms(),
                            .session = row->id,
                            .agent = row->agent,
                            .kind = row->state};

    return repair_append_event(f->store, e, row->label, "", f->text);
}

/* A session that is lost has an event, too, with empty texts. */
static void
repair_on_found(void *arg, const struct store_finding *finding)
{
    const struct store_session lost = {.id = finding->session,
                                       .agent = "",
                                       .label = "",
                                       .state =
                                           session_state_names[SESSION_ended]};
    struct repair_findings *f = arg;

    say(f->sv, LEVEL_error, "the store: %s%s%s%s",
        *finding->session ? "session " : "", finding->session,
        *finding->session ? ": " : "", finding->what);
    if (!*finding->session || f->error < 0)
        return;
    f->text = finding->what;
    f->error =
        store_session_get(f->store, finding->session, repair_append_for, f);
    if (f->error == -ENOENT)
        f->error = repair_append_for(f, &lost);
}

/* One transaction: the findings are forgotten in the store exactly when their
 * events are in it. */
int
repair_report(struct supervisor *sv, struct store *store)
{
    struct repair_findings f = {.sv = sv, .store = store};
    int r = store_begin(store, true);

    if (r < 0)
        return r;
    r = store_damage(store, true, repair_on_found, &f);
    if (r >= 0)
        r = f.error;
    if (r == 0)
        return store_end(store);
    store_undo(store);
    return r;
}

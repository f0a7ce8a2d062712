/* The life of a session's worker, from wanting one to its end. */
#include "supervisor/session/session.h"

#include "supervisor/config/config.h"
#include "supervisor/session/not_copied.h"
#include "supervisor/session/say.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    START_S = 300, /* until a worker has its state; the first may compile */
    LEAVE_S = 30,  /* until an idle worker has committed */
    HURRY_S = 10,  /* the same, for one whose runs were cancelled */
};

static void
set_deadline(struct life *l, int64_t seconds)
{
    reactor_set_timer(&l->s->sv->reactor, &l->deadline,
                      seconds ? time_mono_ns() + seconds * NS_PER_S : 0);
}

static void
on_deadline(struct timer *t)
{
    struct life *l = CONTAINER_OF(t, struct life, deadline);
    const struct supervisor *sv = l->s->sv;

    if (l->phase == LIFE_WANTING)
        life_end(l, SESSION_error, CAUSE_failed, "no worker within %d s%s%s",
                 START_S, *sv->start_why ? ": " : "", sv->start_why);
    else if (l->phase == LIFE_LOADING)
        life_end(l, SESSION_error, CAUSE_failed,
                 "the worker was not ready within %d s", START_S);
    else if (l->phase == LIFE_LEAVING && l->s->command)
        life_left(l); /* it did not listen to SIGTERM */
    else if (l->phase == LIFE_LEAVING &&
             (l->is_hurried || list_is_empty(&l->open)))
        life_end(l, l->outcome.state, CAUSE_crashed,
                 "the worker did not commit in time");
    else if (l->phase == LIFE_LEAVING) /* what runs has its own limits */
        set_deadline(l, LEAVE_S);
}

/* --- idle sessions */

static int64_t
idle_at(const struct life *l)
{
    return l->used_ns + l->s->sv->config->idle_pause_s * NS_PER_S;
}

static void
on_idle(struct timer *t)
{
    struct life *l = CONTAINER_OF(t, struct life, idle);
    const struct outcome f = {.state = SESSION_paused, .cause = CAUSE_idle};

    if (!list_is_empty(&l->open) || !list_is_empty(&l->held))
        l->used_ns = time_mono_ns();
    if (l->phase != LIFE_SERVING || !l->worker)
        return;
    if (idle_at(l) <= time_mono_ns())
        life_leave(l, &f, false);
    else
        reactor_set_timer(&l->s->sv->reactor, t, idle_at(l));
}

void
life_used(struct life *l)
{
    l->used_ns = time_mono_ns();
}

/* --- the beginning */

int
life_begin(struct session *s)
{
    struct life *l = calloc(1, sizeof *l);

    if (!l)
        return -ENOMEM;
    *l = (struct life){.s = session_get(s),
                       .phase = LIFE_WANTING,
                       .begun_ns = time_mono_ns(),
                       .deadline.fire = on_deadline,
                       .idle.fire = on_idle,
                       .rpc.hfd = -1,
                       .state.hfd = -1};
    struct list *lists[] = {&l->resumers, &l->leavers, &l->open, &l->held,
                            &l->routes,   &l->stall,   &l->parts};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        list_init(lists[i]);
    list_push_back(&s->sv->lives, &l->link);
    s->life = l;
    set_deadline(l, START_S);
    return 0;
}

static void
send_state(struct life *l)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    session_put_create(l->s, &b);
    l->phase = LIFE_LOADING;
    route_ask(l, ASK_CREATE, "create", &b);
    buf_fini(&b);
    if (!l->s->has_state)
        return;
    route_ask(l, ASK_LOAD, "state.load", NULL);
    records_load(l);
}

static void
begin_with(struct life *l, OWN struct worker *w)
{
    l->worker = w;
    w->user = l;
    l->s->sv->n_workers++;
    if (l->s->command) {
        l->phase = LIFE_LOADING;
        l->is_ready = true;
        life_check_ready(l);
        return;
    }
    int r = route_begin(l);
    if (r == 0)
        r = records_begin(l);
    if (r < 0)
        life_end(l, SESSION_error, CAUSE_failed, "%s", strerror(-r));
    else
        send_state(l);
}

static int
take_worker(struct life *l, struct worker **ret)
{
    struct session *s = l->s;
    struct worker_command c = {.argv = s->command, .limit = s->limit};

    if (s->limit[LIMIT_network] && !s->sv->config->command_network)
        return -EPERM;
    if (s->command)
        return pool_run(s->sv->pool, &c, ret);
    if (s->image && s->image != s->sv->images.current)
        return image_take(s->image, s->limit, ret);
    return pool_take(s->sv->pool, s->limit, ret);
}

void
lives_take_workers(struct supervisor *sv)
{
    LIST_FOR_EACH_SAFE(it, &sv->lives) {
        struct life *l = CONTAINER_OF(it, struct life, link);
        struct worker *w;
        if (l->phase != LIFE_WANTING)
            continue;
        int r = take_worker(l, &w);
        if (r == 0)
            begin_with(l, w);
        else if (r != -EAGAIN)
            life_end(l, SESSION_error, CAUSE_failed, "no worker: %s",
                     r == -ENOENT ? "the root image of the session is missing "
                                    "in the store's folder"
                                  : strerror(-r));
    }
}

static void
answer_session(struct session *s, OWN struct call *q)
{
    session_put_json(s, call_begin(q));
    call_end(q);
}

static void
answer_all(struct session *s, struct list *calls)
{
    while (!list_is_empty(calls)) {
        struct call *q = CONTAINER_OF(calls->next, struct call, turn);
        list_remove(&q->turn);
        session_put_copied(s, call_begin(q));
        call_end(q);
    }
}

void
life_check_ready(struct life *l)
{
    struct session *s = l->s;

    if (!l->has_row || !l->is_ready || l->phase != LIFE_LOADING)
        return;
    l->phase = LIFE_SERVING;
    set_deadline(l, 0);
    life_used(l);
    if (s->sv->config->idle_pause_s && !s->command)
        reactor_set_timer(&s->sv->reactor, &l->idle, idle_at(l));
    histogram_add(&s->sv->counters.start, time_mono_ns() - l->begun_ns);
    session_enter(s, &(struct state_change){.to = SESSION_active,
                                            .cause = CAUSE_started});
    if (l->creator)
        answer_session(s, STEAL(l->creator));
    answer_all(s, &l->resumers);
    session_serve_waiting(s);
}

/* --- answers to what we asked */

static void
started(struct life *l, const char *error)
{
    if (error) {
        life_end(l, SESSION_error, CAUSE_failed, "%s", error);
    } else if (!l->n_asked[ASK_CREATE] && !l->n_asked[ASK_LOAD]) {
        l->is_ready = true;
        life_check_ready(l);
    }
}

void
life_answered(struct life *l, uint64_t number, uint64_t commit,
              const char *error)
{
    if (number == ASK_LOAD && l->awaits_break) {
        repair_broken_off(l);
    } else if (number == ASK_CREATE || number == ASK_LOAD) {
        started(l, error);
    } else if (number == ASK_LEAVE) {
        if (error)
            say(l->s->sv, LEVEL_warn,
                "session %s: the last commit of its worker failed: %s",
                l->s->id, error);
        l->leave_commit = commit;
        if (commit <= l->committed)
            life_left(l);
    }
}

/* --- the end */

static void
cancel_runs(struct life *l)
{
    LIST_FOR_EACH(it, &l->open)
        route_cancel(l, CONTAINER_OF(it, struct call, turn)->number);
}

void
life_set_outcome(struct life *l, enum session_state state, enum cause cause,
                 const char *reason)
{
    l->has_outcome = true;
    l->outcome.state = state;
    l->outcome.cause = cause;
    (void)snprintf(l->outcome.reason, sizeof l->outcome.reason, "%s", reason);
}

void
life_leave(struct life *l, const struct outcome *f, bool hurry)
{
    struct buf b;

    if (l->phase != LIFE_SERVING)
        return;
    l->phase = LIFE_LEAVING;
    l->outcome = *f;
    l->is_hurried = hurry;
    if (l->s->command) {
        set_deadline(l, HURRY_S);
        if (worker_signal(l->worker, SIGTERM) < 0)
            life_left(l);
        return;
    }
    set_deadline(l, LEAVE_S);
    if (hurry)
        life_hurry(l);
    buf_init(&b, SIZE_MAX);
    buf_puts(&b, "{\"script\":true}");
    route_ask(l, ASK_LEAVE, "state.commit", &b);
    buf_fini(&b);
}

void
life_hurry(struct life *l)
{
    l->is_hurried = true;
    set_deadline(l, HURRY_S);
    cancel_runs(l);
}

void
life_left(struct life *l)
{
    life_end(l, l->outcome.state, l->outcome.cause, "%s", l->outcome.reason);
}

void
life_end(struct life *l, enum session_state state, enum cause cause,
         const char *format, ...)
{
    char reason[REASON_BYTES];
    va_list args;

    if (l->phase >= LIFE_DYING && l->has_outcome && state != SESSION_ended)
        return;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    life_set_outcome(l, state, cause, reason);
    set_deadline(l, 0);
    if (l->phase < LIFE_DYING)
        l->phase = LIFE_DYING;
    if (l->worker)
        worker_kill(l->worker);
    else
        life_finish(l);
}

void
life_fault(struct life *l, const char *format, ...)
{
    char reason[REASON_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    l->is_faulty = true;
    life_end(l, l->phase == LIFE_LOADING ? SESSION_error : SESSION_paused,
             CAUSE_crashed, "%s", reason);
}

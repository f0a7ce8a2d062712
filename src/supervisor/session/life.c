/* The life of a session's worker: performs the actions of life_table.h.
 *
 * Each action is a function life_do_*. Timers, the worker's answers and the
 * pool create events; life_event looks up the step and performs it. */
#include "supervisor/session/life.h"

#include "base/os_time.h"
#include "supervisor/config/config.h"
#include "supervisor/session/forward.h"
#include "supervisor/session/not_copied.h"
#include "supervisor/session/repair.h"
#include "supervisor/session/say.h"
#include "supervisor/session/session.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    START_S = 300, /* until a worker has its state; the first may compile */
    LEAVE_S = 30,  /* until an idle worker has committed */
    HURRY_S = 10,  /* likewise, for a worker whose runs were cancelled */
};

/* --- phases */

bool
life_is_loading(const struct life *l)
{
    return l->phase == LIFE_NEW_LOADING || l->phase == LIFE_LOADING;
}

bool
life_is_leaving(const struct life *l)
{
    return l->phase == LIFE_LEAVING || l->phase == LIFE_HURRYING;
}

bool
life_is_reaped(const struct life *l)
{
    return l->phase == LIFE_NEW_REAPED || l->phase == LIFE_REAPED;
}

/* True in the phases that wait for a worker of the pool. */
static bool
life_wants_worker(const struct life *l)
{
    return l->phase == LIFE_NEW_WANTING || l->phase == LIFE_WANTING;
}

/* --- times */

/* Sets the time limit of the current phase; 0 means none. */
static void
life_set_deadline(struct life *l, int64_t seconds)
{
    reactor_set_timer(&l->s->sv->reactor, &l->deadline,
                      seconds ? time_mono_ns() + seconds * NS_PER_S : 0);
}

/* The time limit of a phase has passed. The reason says which step took too
 * long. A worker with calls in progress gets a different event: a paused
 * session lets its runs finish. */
static void
life_on_deadline(struct reactor_timer *t)
{
    struct life *l = CONTAINER_OF(t, struct life, deadline);
    const struct supervisor *sv = l->s->sv;
    struct outcome o = {.state = SESSION_error, .cause = CAUSE_failed};

    if (life_is_leaving(l) && l->s->command) {
        life_event(l, LIFE_LEFT, NULL); /* it ignored SIGTERM */
        return;
    }
    if (life_is_leaving(l)) {
        o = (struct outcome){.state = l->outcome.state,
                             .cause = CAUSE_crashed,
                             .reason = "the worker did not commit in time"};
    } else if (life_wants_worker(l)) {
        (void)snprintf(o.reason, sizeof o.reason,
                       "no worker within %d s%s%.200s", START_S,
                       *sv->start_why ? ": " : "", sv->start_why);
    } else {
        (void)snprintf(o.reason, sizeof o.reason,
                       "the worker was not ready within %d s", START_S);
    }
    life_event(l, list_is_empty(&l->link.open) ? LIFE_TIMEOUT : LIFE_BUSY, &o);
}

/* Returns the time at which an unused session is paused. */
static int64_t
life_idle_at(const struct life *l)
{
    return l->used_ns + l->s->sv->config->idle_pause_s * NS_PER_S;
}

/* Every use moves the end of the idle time. Instead of setting the timer at
 * each use, the timer checks when it fires and is set again for the rest (a
 * lazy timer). */
static void
life_on_idle(struct reactor_timer *t)
{
    struct life *l = CONTAINER_OF(t, struct life, idle);
    const struct outcome o = {.state = SESSION_paused, .cause = CAUSE_idle};

    if (!list_is_empty(&l->link.open) || !list_is_empty(&l->link.held))
        life_used(l);
    if (l->phase != LIFE_SERVING)
        return;
    if (life_idle_at(l) <= time_mono_ns())
        life_event(l, LIFE_PAUSE, &o);
    else
        reactor_set_timer(&l->s->sv->reactor, t, life_idle_at(l));
}

void
life_used(struct life *l)
{
    l->used_ns = time_mono_ns();
}

/* --- the beginning */

/* The life is in the list of lives from now on, and lives_take_workers finds it
 * there. */
int
life_begin(struct session *s, enum life_phase phase)
{
    struct life *l = calloc(1, sizeof *l);

    if (!l)
        return -ENOMEM;
    *l = (struct life){.s = session_get(s),
                       .phase = phase,
                       .begun_ns = time_mono_ns(),
                       .deadline.fire = life_on_deadline,
                       .idle.fire = life_on_idle};
    list_init(&l->resumers);
    list_init(&l->leavers);
    buf_init(&l->figures, SIZE_MAX);
    worker_link_init(&l->link);
    commits_init(&l->commits);
    life_broker_init(&l->broker);
    list_push_back(&s->sv->lives, &l->all);
    s->life = l;
    life_set_deadline(l, START_S);
    return 0;
}

/* Creates the sandbox in the worker, and sends the state that the store has.
 * The worker handles both in order. */
static void
life_send_state(struct life *l)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    session_put_create(l->s, &b);
    worker_link_ask(l, ASK_CREATE, "create", &b);
    buf_fini(&b);
    if (!l->s->has_state)
        return;
    worker_link_ask(l, ASK_LOAD, "state.load", NULL);
    state_load_begin(l);
}

/* A native command needs no state: it serves at once. */
static void
life_do_load(struct life *l)
{
    if (l->s->command) {
        life_event(l, LIFE_READY, NULL);
        return;
    }
    int r = worker_link_open(l);
    if (r == 0)
        r = commits_open(l);
    if (r < 0)
        life_kill(l, SESSION_error, CAUSE_failed, "%s", strerror(-r));
    else
        life_send_state(l);
}

/* Takes a worker from the pool of the session's image. -EAGAIN: none is ready
 * yet, and lives_take_workers tries again. */
static int
life_take_worker(struct life *l)
{
    struct session *s = l->s;
    struct worker_command c = {.argv = s->command, .limit = s->limit};

    if (s->limit[LIMIT_network] && !s->sv->config->command_network)
        return -EPERM;
    if (s->command)
        return pool_run(s->sv->pool, &c, &l->worker);
    if (s->image && s->image != s->sv->images.current)
        return image_take(s->image, s->limit, &l->worker);
    return pool_take(s->sv->pool, s->limit, &l->worker);
}

/* An error is final for this life: waiting longer would not help. */
static void
life_try_worker(struct life *l)
{
    int r = life_take_worker(l);

    if (r == -EAGAIN)
        return;
    if (r < 0) {
        life_kill(l, SESSION_error, CAUSE_failed, "no worker: %s",
                  r == -ENOENT ? "the root image of the session is missing in "
                                 "the store's folder"
                               : strerror(-r));
        return;
    }
    l->worker->user = l;
    l->s->sv->n_workers++;
    life_event(l, LIFE_WORKER, NULL);
}

/* Lives are in the order of their start, so the longest waiting one gets the
 * first worker. */
void
lives_take_workers(struct supervisor *sv)
{
    LIST_FOR_EACH_SAFE(it, &sv->lives) {
        struct life *l = CONTAINER_OF(it, struct life, all);
        if (life_wants_worker(l))
            life_try_worker(l);
    }
}

/* Ends the lives that wait for a worker with this image. */
void
lives_refuse_image(struct supervisor *sv, const struct session_image *i,
                   const char *why)
{
    LIST_FOR_EACH_SAFE(it, &sv->lives) {
        struct life *l = CONTAINER_OF(it, struct life, all);
        if (l->s->image == i && life_wants_worker(l))
            life_kill(l, SESSION_error, CAUSE_failed, "no worker: %s", why);
    }
}

/* --- serving */

/* The answers contain the processes that were not copied, once. */
static void
life_answer_resumers(struct life *l)
{
    while (!list_is_empty(&l->resumers)) {
        struct call *q = CONTAINER_OF(l->resumers.next, struct call, link);
        list_remove(&q->link);
        session_put_copied(l->s, answer_begin(q));
        answer_end(q);
    }
}

/* The session is active: answers its creator, those who resumed it, and then
 * the calls that waited for it, in this order. */
static void
life_do_serve(struct life *l)
{
    struct session *s = l->s;

    life_set_deadline(l, 0);
    life_used(l);
    session_forward_open_all(s);
    life_broker_update(l); /* the policy may have changed meanwhile */
    if (s->sv->config->idle_pause_s && !s->command)
        reactor_set_timer(&s->sv->reactor, &l->idle, life_idle_at(l));
    metrics_add(&s->sv->counters.start, time_mono_ns() - l->begun_ns);
    session_enter(s, &(struct session_change){.to = SESSION_active,
                                              .cause = CAUSE_started});
    if (l->creator) {
        struct call *q = STEAL(l->creator);
        session_put_json(s, answer_begin(q));
        answer_end(q);
    }
    life_answer_resumers(l);
    session_serve_waiting(s);
}

/* The worker has answered `create`, `state.load` or `network.set`. It is ready
 * when no such answer is missing: calls must find the network that the session
 * has. */
static void
life_started(struct life *l, const char *error)
{
    const uint32_t *asked = l->link.n_asked;

    if (error) {
        life_kill(l, SESSION_error, CAUSE_failed, "%s", error);
        return;
    }
    if (asked[ASK_CREATE] || asked[ASK_LOAD] || asked[ASK_NETWORK])
        return;
    if (!l->broker.was_told)
        life_broker_update(l);
    if (!asked[ASK_NETWORK])
        life_event(l, LIFE_READY, NULL);
}

/* The answer to ASK_LEAVE names the last commit. The worker may be killed only
 * when the store has it. */
void
life_answered(struct life *l, uint64_t number, uint64_t commit,
              const char *error)
{
    if (number == ASK_LOAD &&
        (l->load.phase == LOAD_REPAIRING || l->load.phase == LOAD_FORGETTING)) {
        repair_broken_off(l);
    } else if (number == ASK_CREATE || number == ASK_LOAD ||
               (number == ASK_NETWORK && life_is_loading(l))) {
        life_started(l, error);
    } else if (number == ASK_NETWORK) {
        life_broker_answered(l, error);
    } else if (number == ASK_LEAVE) {
        if (error)
            say(l->s->sv, LEVEL_warn,
                "session %s: the last commit of its worker failed: %s",
                l->s->id, error);
        l->link.leave_commit = commit;
        if (commit <= l->commits.committed)
            life_event(l, LIFE_LEFT, NULL);
    }
}

/* --- leaving */

/* Cancels the runs of a worker that leaves, and shortens its time limit. */
static void
life_do_hurry(struct life *l)
{
    life_set_deadline(l, HURRY_S);
    LIST_FOR_EACH(it, &l->link.open) {
        const struct call *q = CONTAINER_OF(it, struct call, link);
        worker_link_cancel(l, routing_of(q)->number);
    }
}

/* Asks for a last commit with a script of the shell, so that another version of
 * the shell can restore the session. */
static void
life_ask_leave(struct life *l)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_puts(&b, "{\"script\":true}");
    worker_link_ask(l, ASK_LEAVE, "state.commit", &b);
    buf_fini(&b);
}

/* A native command gets SIGTERM, and is killed at the deadline. */
static void
life_end_command(struct life *l)
{
    life_set_deadline(l, HURRY_S);
    if (worker_signal(l->worker, SIGTERM) < 0)
        life_event(l, LIFE_LEFT, NULL);
}

static void
life_do_leave(struct life *l)
{
    if (l->s->command) {
        life_end_command(l);
        return;
    }
    life_set_deadline(l, LEAVE_S);
    life_ask_leave(l);
}

static void
life_do_stop(struct life *l)
{
    if (l->s->command) {
        life_end_command(l);
        return;
    }
    life_do_hurry(l);
    life_ask_leave(l);
}

/* --- the end */

/* The end of the worker is an event of its pool, which follows. */
static void
life_do_kill(struct life *l)
{
    life_set_deadline(l, 0);
    worker_kill(l->worker);
}

/* Reaps the worker, and derives the outcome from its death unless the outcome
 * was decided before. */
static void
life_do_reap(struct life *l, enum life_action action)
{
    struct ending e;

    life_set_deadline(l, 0);
    life_reap(l, action == LIFE_DO_KILL_DEAD || action == LIFE_DO_REAP_DONE,
              &e);
    if (action == LIFE_DO_REAP_START)
        life_decide_start(l, &e);
    else if (action == LIFE_DO_REAP)
        life_decide(l, &e);
    else if (action == LIFE_DO_REAP_LEAVE)
        life_decide_leave(l, &e);
}

/* The worker is dead. Its last records and answers may still be in the sockets:
 * they count, as if the worker had died later. */
void
life_on_ended(struct life *l)
{
    if (!l->s->command) {
        commits_read(l);
        worker_link_read(l);
    }
    life_event(l, LIFE_ENDED, NULL);
}

/* The reason is formatted here, so that callers need no buffer. */
void
life_kill(struct life *l, enum session_state state, enum cause cause,
          const char *format, ...)
{
    struct outcome o = {.state = state, .cause = cause};
    va_list args;

    va_start(args, format);
    (void)vsnprintf(o.reason, sizeof o.reason, format, args);
    va_end(args);
    life_event(l, LIFE_KILL, &o);
}

/* Nothing more is read from a worker that broke the protocol. During the start
 * the session enters `error`; later it is paused, because its last commit is
 * intact. */
void
life_fault(struct life *l, const char *format, ...)
{
    bool is_starting = life_is_loading(l) || l->phase == LIFE_NEW_READY;
    char reason[REASON_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    l->link.state = LINK_REJECTED;
    life_kill(l, is_starting ? SESSION_error : SESSION_paused, CAUSE_crashed,
              "%s", reason);
}

/* A life that is leaving keeps its own outcome. */
void
lives_shut_down(struct supervisor *sv)
{
    const struct outcome o = {.state = SESSION_paused, .cause = CAUSE_shutdown};

    LIST_FOR_EACH_SAFE(it, &sv->lives) {
        struct life *l = CONTAINER_OF(it, struct life, all);
        life_event(l, LIFE_SHUTDOWN, life_is_leaving(l) ? NULL : &o);
    }
}

/* --- the machine */

/* Performs an action. Everything that depends on the event was decided by the
 * table. */
static void
life_act(struct life *l, enum life_action action)
{
    switch (action) {
    case LIFE_IGNORE:
    case LIFE_NOTE:
    case LIFE_DO_OVERRIDE:
        break;
    case LIFE_DO_LOAD:
        life_do_load(l);
        break;
    case LIFE_DO_SERVE:
        life_do_serve(l);
        break;
    case LIFE_DO_SERVE_DEAD:
        life_do_serve(l);
        life_event(l, LIFE_ENDED, NULL);
        break;
    case LIFE_DO_LEAVE:
        life_do_leave(l);
        break;
    case LIFE_DO_STOP:
        life_do_stop(l);
        break;
    case LIFE_DO_HURRY:
        life_do_hurry(l);
        break;
    case LIFE_DO_EXTEND:
        life_set_deadline(l, LEAVE_S);
        break;
    case LIFE_DO_DECIDE:
        life_set_deadline(l, 0);
        break;
    case LIFE_DO_KILL:
        life_do_kill(l);
        break;
    case LIFE_DO_KILL_DEAD:
    case LIFE_DO_REAP_START:
    case LIFE_DO_REAP:
    case LIFE_DO_REAP_LEAVE:
    case LIFE_DO_REAP_DONE:
        life_do_reap(l, action);
        break;
    case LIFE_DO_FINISH:
        life_finish(l);
        break;
    }
}

/* An outcome that is decided stays, unless the session itself is to end. */
static bool
life_takes_outcome(const struct outcome *o, enum life_action action)
{
    if (action == LIFE_IGNORE || action == LIFE_DO_EXTEND)
        return false;
    return action != LIFE_DO_OVERRIDE || o->state == SESSION_ended;
}

/* A reaped life is over when no job of the store refers to it any more. */
void
life_job_done(struct life *l)
{
    if (l->phase == LIFE_REAPED && !l->commits.job && !state_load_is_busy(l))
        life_event(l, LIFE_STORED, NULL);
}

/* The phase changes before the action: an action may cause further events,
 * which then find the life as the table has it. */
void
life_event(struct life *l, enum life_event event, const struct outcome *o)
{
    struct life_step step = life_step(l->phase, event);

    if (o && life_takes_outcome(o, step.action))
        l->outcome = *o;
    bool is_reaped = l->phase != LIFE_REAPED && step.next == LIFE_REAPED;
    l->phase = step.next;
    life_act(l, step.action);
    if (is_reaped)
        life_job_done(l);
}

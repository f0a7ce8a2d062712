/* After a worker's death: what its session becomes. */
#include "supervisor/session/session.h"

#include "supervisor/session/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* --- why */

static enum cause
cause_of_death(const struct ending *e)
{
    static const struct {
        const char *text;
        enum cause cause;
    } rows[] = {
        {"oom", CAUSE_oom}, {"cpu", CAUSE_cpu}, {"killed", CAUSE_killed}};
    const char *text = ending_cause(e);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(text, rows[i].text))
            return rows[i].cause;
    return CAUSE_crashed;
}

/* What a worker becomes that nobody killed. */
static void
set_outcome(struct life *l)
{
    const struct ending *e = &l->ending;
    enum cause cause = cause_of_death(e);
    bool is_leaving = l->phase == LIFE_LEAVING;
    char reason[REASON_BYTES];

    (void)snprintf(reason, sizeof reason, "%s: %s", e->where,
                   strerror(e->start_error));
    if (e->start_error)
        life_set_outcome(l, SESSION_error, CAUSE_failed, reason);
    else if (l->s->command && is_leaving)
        life_set_outcome(l, l->outcome.state, l->outcome.cause,
                         l->outcome.reason);
    else if (l->s->command && cause != CAUSE_oom && WIFEXITED(e->status))
        life_set_outcome(l, SESSION_stopped, CAUSE_exited, "");
    else if (l->phase == LIFE_LOADING)
        life_set_outcome(l, SESSION_error, cause,
                         "the worker ended while it started");
    else
        life_set_outcome(l, is_leaving ? l->outcome.state : SESSION_paused,
                         cause, "");
}

/* --- figures */

static void
put_counters(struct buf *b, const struct cgroup_counters *c)
{
    if (c->has[CTL_memory]) {
        put_number(b, "memoryPeakBytes", c->memory_peak);
        put_number(b, "oomKills", c->oom_kills);
    }
    if (c->has[CTL_cpu]) {
        put_number(b, "throttledPeriods", c->throttled);
        put_number(b, "periods", c->periods);
    }
    if (c->has[CTL_pids])
        put_number(b, "forksRefused", c->refused);
}

static uint64_t
cpu_ms(const struct ending *e)
{
    struct timeval a = e->usage.ru_utime, b = e->usage.ru_stime;

    if (e->counters.cpu_us)
        return e->counters.cpu_us / 1000;
    return (uint64_t)(a.tv_sec + b.tv_sec) * 1000 +
           (uint64_t)(a.tv_usec + b.tv_usec) / 1000;
}

static void
put_figures(struct buf *b, const struct life *l)
{
    const struct ending *e = &l->ending;

    buf_puts(b, "{");
    put_number(b, "livedMs",
               (uint64_t)(time_mono_ns() - l->begun_ns) / NS_PER_MS);
    if (!l->has_died) {
        buf_add(b, "}", 2);
        return;
    }
    put_number(b, "cpuMs", cpu_ms(e));
    if (WIFEXITED(e->status))
        put_number(b, "exitStatus", (uint64_t)WEXITSTATUS(e->status));
    else
        put_number(b, "signal", (uint64_t)WTERMSIG(e->status));
    if (l->s->command)
        put_number(b, "diskBytes", e->disk_used);
    put_counters(b, &e->counters);
    buf_add(b, "}", 2); /* with its NUL */
}

/* What a command wrote stays readable until it is started again. */
static void
keep_output(const struct life *l)
{
    struct session *s = l->s;
    uint64_t end = worker_output_end(l->worker);

    free(s->output);
    s->output_len = 0;
    s->output = malloc(OUTPUT_KEPT);
    if (s->output)
        s->output_len =
            worker_output(l->worker, end < OUTPUT_KEPT ? 0 : end - OUTPUT_KEPT,
                          s->output, OUTPUT_KEPT, &s->output_at);
}

/* A worker's last words go to the log. */
static void
log_words(const struct life *l)
{
    char words[512];
    uint64_t end = worker_output_end(l->worker), at;
    size_t n = worker_output(l->worker,
                             end < sizeof words ? 0 : end - sizeof words + 1,
                             words, sizeof words - 1, &at);

    words[n] = 0;
    if (n)
        say(l->s->sv, LEVEL_warn, "session %s: last output of its worker: %s",
            l->s->id, words);
}

/* --- the new state */

/* Calls that are answered when the store has the state. */
struct leave {
    struct list calls;
};

static void
refuse_calls(struct list *calls, int code, const char *text, const char *why)
{
    while (!list_is_empty(calls)) {
        struct call *q = CONTAINER_OF(calls->next, struct call, turn);
        list_remove(&q->turn);
        call_error(q, code, "%s%s%s", text, *why ? ": " : "", why);
    }
}

static void
entered(struct session *s, void *arg, int error, const char *why)
{
    struct leave *leave = arg;

    if (s->state == SESSION_ended) /* nothing is left of it when that is told */
        session_forget(s);
    if (error < 0 && !s->row_has_ended)
        refuse_calls(&leave->calls, SANDBOX_ERROR,
                     "EIO: the session's state was not saved", why);
    while (!list_is_empty(&leave->calls)) {
        struct call *q = CONTAINER_OF(leave->calls.next, struct call, turn);
        list_remove(&q->turn);
        session_put_json(s, call_begin(q));
        call_end(q);
    }
    free(leave);
}

static void
enter(struct session *s, const struct outcome *f, const char *figures,
      struct list *leavers)
{
    struct leave *leave = malloc(sizeof *leave);

    if (!leave) {
        refuse_calls(leavers, INTERNAL_ERROR, "Internal error: out of memory",
                     "");
        return;
    }
    list_init(&leave->calls);
    if (!list_is_empty(leavers))
        list_move(leavers, &leave->calls);
    session_enter(s, &(struct state_change){.to = f->state,
                                            .cause = f->cause,
                                            .reason = f->reason,
                                            .figures = figures,
                                            .done = entered,
                                            .arg = leave});
}

/* EINVAL: ... */
static bool
begins_with_errno(const char *text)
{
    size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

    return *text == 'E' && !strncmp(text + n, ": ", 2);
}

/* A session that never was active does not stay. What the sandbox has against
 * it is told as the server would: to ask again does not help. */
static void
refuse_creator(struct life *l)
{
    struct call *q = STEAL(l->creator);
    const char *why =
        *l->outcome.reason ? l->outcome.reason : cause_names[l->outcome.cause];

    l->outcome.state = SESSION_ended;
    call_error(
        q, SANDBOX_ERROR, "%s%s",
        begins_with_errno(why) ? "" : "EAGAIN: Session not created: ", why);
}

static void
life_free(struct life *l)
{
    struct session *s = l->s;

    reactor_set_timer(&s->sv->reactor, &l->deadline, 0);
    reactor_set_timer(&s->sv->reactor, &l->idle, 0);
    list_remove(&l->link);
    s->life = NULL;
    free(l);
    session_put(s);
}

void
life_finish(struct life *l)
{
    struct session *s = session_get(l->s);
    struct buf figures;

    l->phase = LIFE_DEAD;
    if (l->has_died && !s->command && records_are_busy(l))
        return;
    if (l->has_died && !s->command) {
        route_interrupt(l);
        route_end(l);
        records_end(l);
    }
    if (l->creator)
        refuse_creator(l);
    refuse_calls(&l->resumers, SESSION_ERROR, "Session not resumed",
                 *l->outcome.reason ? l->outcome.reason
                                    : cause_names[l->outcome.cause]);
    buf_init(&figures, SIZE_MAX);
    put_figures(&figures, l);
    if (s->is_lost)
        session_forget(s);
    else
        enter(s, &l->outcome, figures.error ? NULL : figures.p, &l->leavers);
    buf_fini(&figures);
    life_free(l);
    session_serve_waiting(s);
    session_put(s);
}

void
life_on_ended(struct life *l)
{
    struct supervisor *sv = l->s->sv;

    if (!l->has_row) /* nor does anybody know the session */
        return;
    if (!l->s->command) { /* what it said before */
        records_read(l);
        route_read(l);
        reactor_remove(&sv->reactor, &l->rpc);
        reactor_remove(&sv->reactor, &l->state);
    }
    if (l->s->command)
        keep_output(l);
    else if (!l->has_outcome)
        log_words(l);
    worker_reap(STEAL(l->worker), &l->ending);
    l->has_died = true;
    sv->n_workers--;
    if (!l->has_outcome)
        set_outcome(l);
    life_finish(l);
    supervisor_check_end(sv);
}

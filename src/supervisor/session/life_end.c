/* The end of a life: the cause of the worker's death, its figures, and the
 * state of its session afterwards. */
#include "supervisor/session/life.h"

#include "base/exit.h"
#include "base/os_time.h"
#include "supervisor/session/forward.h"
#include "supervisor/session/say.h"
#include "supervisor/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* --- why */

/* A worker that catches a signal exits with 128 plus its number (server_status
 * of the server). */
static bool
life_was_signalled(const struct ending *e)
{
    return WIFEXITED(e->status) && WEXITSTATUS(e->status) > EXIT_SIGNAL;
}

/* The jail knows the cause from the counters of the host's kernel. A worker
 * that was killed by a signal from outside is `killed`; every other death is a
 * crash. */
static enum cause
life_cause_of_death(const struct ending *e)
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
    return life_was_signalled(e) ? CAUSE_killed : CAUSE_crashed;
}

/* Replaces the outcome with its reason. */
static void
life_set_outcome(struct life *l, enum session_state state, enum cause cause,
                 const char *reason)
{
    l->outcome = (struct outcome){.state = state, .cause = cause};
    (void)snprintf(l->outcome.reason, sizeof l->outcome.reason, "%s", reason);
}

/* Decides about a process that could not be started, and about a command that
 * ended by itself. Returns false for all others. */
static bool
life_decide_by_itself(struct life *l, const struct ending *e)
{
    char reason[REASON_BYTES];

    if (e->start_error) {
        (void)snprintf(reason, sizeof reason, "%s: %s", e->where,
                       strerror(e->start_error));
        life_set_outcome(l, SESSION_error, CAUSE_failed, reason);
        return true;
    }
    if (!l->s->command || life_cause_of_death(e) == CAUSE_oom ||
        !WIFEXITED(e->status))
        return false;
    life_set_outcome(l, SESSION_stopped, CAUSE_exited, "");
    return true;
}

void
life_decide_start(struct life *l, const struct ending *e)
{
    if (!life_decide_by_itself(l, e))
        life_set_outcome(l, SESSION_error, life_cause_of_death(e),
                         "the worker ended while it started");
}

void
life_decide(struct life *l, const struct ending *e)
{
    if (!life_decide_by_itself(l, e))
        life_set_outcome(l, SESSION_paused, life_cause_of_death(e), "");
}

/* The worker died during its last commit. The session enters the planned state,
 * with the real cause. */
void
life_decide_leave(struct life *l, const struct ending *e)
{
    if (e->start_error)
        (void)life_decide_by_itself(l, e);
    else if (!l->s->command)
        life_set_outcome(l, l->outcome.state, life_cause_of_death(e), "");
}

/* --- figures */

/* Only controllers that this host has are reported. */
static void
life_put_counters(struct buf *b, const struct cgroup_counters *c)
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

/* The cgroup also counts children of the worker; without one, the figures of
 * wait4 are used. */
static uint64_t
life_cpu_ms(const struct ending *e)
{
    struct timeval a = e->usage.ru_utime, b = e->usage.ru_stime;

    if (e->counters.cpu_us)
        return e->counters.cpu_us / 1000;
    return (uint64_t)(a.tv_sec + b.tv_sec) * 1000 +
           (uint64_t)(a.tv_usec + b.tv_usec) / 1000;
}

/* Writes the figures of the event, with a NUL. e is NULL if there never was a
 * worker. */
static void
life_put_figures(struct life *l, const struct ending *e)
{
    struct buf *b = &l->figures;

    buf_puts(b, "{");
    put_number(b, "livedMs",
               (uint64_t)(time_mono_ns() - l->begun_ns) / NS_PER_MS);
    if (e) {
        put_number(b, "cpuMs", life_cpu_ms(e));
        if (WIFEXITED(e->status))
            put_number(b, "exitStatus", (uint64_t)WEXITSTATUS(e->status));
        else
            put_number(b, "signal", (uint64_t)WTERMSIG(e->status));
        if (l->s->command)
            put_number(b, "diskBytes", e->disk_used);
        life_put_counters(b, &e->counters);
    }
    buf_add(b, "}", 2);
}

/* The output of a command stays readable until the command is started again. */
static void
life_keep_output(const struct life *l)
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

/* The last output of a worker goes to the log: it may explain its death. */
static void
life_log_words(const struct life *l)
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

/* The sources leave the event loop before the worker's descriptors are
 * closed. */
void
life_reap(struct life *l, bool was_killed, struct ending *ret)
{
    struct supervisor *sv = l->s->sv;

    if (l->s->command)
        life_keep_output(l);
    else if (!was_killed)
        life_log_words(l);
    reactor_remove(&sv->reactor, &l->link.source);
    reactor_remove(&sv->reactor, &l->commits.source);
    session_forward_close_all(l->s);
    life_broker_close(l);
    worker_reap(STEAL(l->worker), ret);
    sv->n_workers--;
    life_put_figures(l, ret);
}

/* --- the new state */

/* Calls that are answered when the store has the new state. The answer is the
 * session as it was when it entered that state: a call that waited may have
 * resumed it since. */
struct life_leave {
    struct list calls;
    struct buf json;
};

/* Answers all calls of a list with an error. */
static void
life_refuse_calls(struct list *calls, int code, const char *text,
                  const char *why)
{
    while (!list_is_empty(calls)) {
        struct call *q = CONTAINER_OF(calls->next, struct call, link);
        list_remove(&q->link);
        answer_error(q, code, "%s%s%s", text, *why ? ": " : "", why);
    }
}

/* The session is forgotten before its end is reported. A client that knows of
 * the end therefore never finds the session again. */
static void
life_end_leave_done(struct session *s, void *arg, int error, const char *why)
{
    struct life_leave *leave = arg;

    /* nothing is left of it when that is reported */
    if (s->state == SESSION_ended)
        session_forget(s);
    if (error < 0 && !s->row_has_ended)
        life_refuse_calls(&leave->calls, SANDBOX_ERROR,
                          "EIO: the session's state was not saved", why);
    if (leave->json.error)
        life_refuse_calls(&leave->calls, INTERNAL_ERROR,
                          "Internal error: out of memory", "");
    while (!list_is_empty(&leave->calls)) {
        struct call *q = CONTAINER_OF(leave->calls.next, struct call, link);
        list_remove(&q->link);
        buf_add(answer_begin(q), leave->json.p, leave->json.len);
        answer_end(q);
    }
    buf_fini(&leave->json);
    free(leave);
}

/* Enters the outcome. The calls that wait for it move to an object of their
 * own, because the life is freed now. */
static void
life_enter(struct life *l)
{
    const struct outcome *o = &l->outcome;
    struct session_change change = {.to = o->state,
                                    .cause = o->cause,
                                    .reason = o->reason,
                                    .figures =
                                        l->figures.error ? NULL : l->figures.p,
                                    .done = life_end_leave_done};
    struct life_leave *leave = malloc(sizeof *leave);

    if (!leave) {
        life_refuse_calls(&l->leavers, INTERNAL_ERROR,
                          "Internal error: out of memory", "");
        return;
    }
    list_init(&leave->calls);
    if (!list_is_empty(&l->leavers))
        list_move(&l->leavers, &leave->calls);
    buf_init(&leave->json, SIZE_MAX);
    change.arg = leave;
    change.json = &leave->json;
    session_enter(l->s, &change);
}

/* True for a text like "EINVAL: ...". */
static bool
life_begins_with_errno(const char *text)
{
    size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

    return *text == 'E' && !strncmp(text + n, ": ", 2);
}

/* A session that was never active is removed. An error of the sandbox (with an
 * errno) is reported as the server would report it: repeating the request does
 * not help. Any other failure is EAGAIN. */
static void
life_refuse_creator(struct life *l)
{
    struct call *q = STEAL(l->creator);
    const char *why =
        *l->outcome.reason ? l->outcome.reason : cause_names[l->outcome.cause];

    l->outcome.state = SESSION_ended;
    answer_error(q, SANDBOX_ERROR, "%s%s",
                 life_begins_with_errno(why) ? ""
                                             : "EAGAIN: Session not created: ",
                 why);
}

/* The session stays; its reference to the life is removed. */
static void
life_free(struct life *l)
{
    struct session *s = l->s;

    reactor_set_timer(&s->sv->reactor, &l->deadline, 0);
    reactor_set_timer(&s->sv->reactor, &l->idle, 0);
    list_remove(&l->all);
    buf_fini(&l->figures);
    s->life = NULL;
    free(l);
    session_put(s);
}

/* Everything that still waits for the life is answered first. The life is freed
 * before waiting calls are served, because they may begin the next one. */
void
life_finish(struct life *l)
{
    struct session *s = session_get(l->s);

    worker_link_interrupt(l);
    worker_link_close(l);
    commits_close(l);
    if (l->creator)
        life_refuse_creator(l);
    life_refuse_calls(&l->resumers, SESSION_ERROR, "Session not resumed",
                      *l->outcome.reason ? l->outcome.reason
                                         : cause_names[l->outcome.cause]);
    if (!l->figures.len)
        life_put_figures(l, NULL);
    if (s->is_lost)
        session_forget(s);
    else
        life_enter(l);
    life_free(l);
    session_serve_waiting(s);
    supervisor_check_end(s->sv);
    session_put(s);
}

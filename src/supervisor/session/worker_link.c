/* Lines between clients and workers.
 *
 * Ids of clients are replaced by numbers of ours, because different clients may
 * use the same id. Answers are not parsed as a whole: the scanner finds the
 * members, and the result is passed on as the worker wrote it.
 *
 * Flow control has three parts: reading stops while a client is behind, while
 * many answers wait for a commit, and when the worker broke the protocol. */
#include "supervisor/session/worker_link.h"

#include "supervisor/session/life.h"
#include "supervisor/session/output.h"
#include "supervisor/session/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum {
    ANSWER_BYTES_MAX = 32 << 20, /* of a worker's line */
    HELD_BYTES_MAX = 4 << 20,    /* of answers that wait for a commit */
    READS_AHEAD = 16,            /* before other sources are served */
};

/* --- to the worker */

/* Without memory for the line, the worker would wait for ever, so it is
 * killed. */
static void
worker_link_send_line(struct life *l, struct buf *b)
{
    buf_puts(b, "\n");
    if (b->error)
        life_kill(l, SESSION_paused, CAUSE_crashed, "out of memory");
    else
        outbox_put(&l->link.out, b->p, b->len);
    worker_link_watch(l);
}

/* Begins a request; the caller appends the parameters and a brace. */
static void
worker_link_put_request(struct buf *b, uint64_t number, const char *method)
{
    buf_puts(b, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_printf(b, "%" PRIu64 ",\"method\":\"%s\",\"params\":", number, method);
}

/* Our own requests have fixed numbers below those of calls. n_asked counts how
 * many of each have no answer yet. */
void
worker_link_ask(struct life *l, uint64_t number, const char *method,
                const struct buf *params)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    worker_link_put_request(&b, number, method);
    if (params)
        buf_add(&b, params->p, params->len);
    else
        buf_puts(&b, "{}");
    buf_puts(&b, "}");
    l->link.n_asked[number]++;
    worker_link_send_line(l, &b);
    buf_fini(&b);
}

/* The answer to the request itself is not used. */
void
worker_link_cancel(struct life *l, uint64_t number)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_printf(&b, "{\"requestId\":%" PRIu64 "}", number);
    if (!b.error)
        worker_link_ask(l, ASK_CANCEL, "cancel", &b);
    buf_fini(&b);
}

/* Returns the worker's number for a request id of the same client, or 0. A
 * client can thus name only its own requests. */
static uint64_t
worker_link_number_of(const struct life *l, const struct call *q,
                      const struct json *id)
{
    char *text = message_id(id);
    uint64_t number = 0;

    LIST_FOR_EACH(it, &l->link.open) {
        const struct call *other = CONTAINER_OF(it, struct call, link);
        if (text && client_of(other) == client_of(q) && other->id &&
            id_equals(other->id, text))
            number = routing_of(other)->number;
    }
    free(text);
    return number;
}

/* sessionId is ours. A window makes no sense for a client that cannot send a
 * second line: it could never return any bytes. */
static bool
worker_link_is_for_worker(const struct call *q, const char *name)
{
    if (!strcmp(name, "windowBytes"))
        return client_of(q)->ops->again && !client_of(q)->is_gone;
    return strcmp(name, "sessionId");
}

/* Writes the client's parameters for the worker, with request ids
 * translated. */
static void
worker_link_put_params(struct buf *b, const struct life *l,
                       const struct call *q)
{
    buf_puts(b, "{");
    JSON_EACH_KEY(key, q->params) {
        const struct json *value = json_value(key);
        const char *name = key->text.p;
        if (!worker_link_is_for_worker(q, name))
            continue;
        buf_puts(b, b->p[b->len - 1] == '{' ? "" : ",");
        put_text(b, name);
        buf_puts(b, ":");
        if (!strcmp(name, "requestId") && !json_is(value, JSON_NULL))
            buf_printf(b, "%" PRIu64, worker_link_number_of(l, q, value));
        else
            json_put(b, value);
    }
    buf_puts(b, "}");
}

/* True if the worker has a run that q, a `cancel`, may mean. */
static bool
worker_link_has_target(const struct life *l, const struct call *q)
{
    const struct json *id = param(q, "requestId");

    if (id)
        return worker_link_number_of(l, q, id);
    LIST_FOR_EACH(it, &l->link.open)
        if (method_is(CONTAINER_OF(it, struct call, link)->method, "run"))
            return true;
    return false;
}

/* A `cancel` may overtake its run, which still waits in the client's backlog.
 * The run is then cancelled there, or right after it was sent. */
void
worker_link_send_call(struct life *l, OWN struct call *q)
{
    bool was_cancelled =
        backlog_was_cancelled(&q->peer->waiting, l->s->id, q->id);
    struct buf b;

    if (method_is(q->method, "cancel") && !worker_link_has_target(l, q) &&
        client_cancel_waiting(q))
        return;
    buf_init(&b, SIZE_MAX);
    routing_of(q)->number = ++l->link.last_number;
    if (routing_of(q)->follow) {
        worker_link_put_request(&b, routing_of(q)->number, "state.commit");
        buf_puts(&b, "{}");
    } else {
        worker_link_put_request(&b, routing_of(q)->number, q->method->name);
        worker_link_put_params(&b, l, q);
    }
    buf_puts(&b, "}");
    if (b.error) {
        buf_fini(&b);
        answer_error(q, INVALID_PARAMS, "params: nested too deeply");
        return;
    }
    list_remove(&q->link);
    list_push_back(&l->link.open, &q->link);
    l->s->sv->counters.routed++;
    life_used(l);
    worker_link_send_line(l, &b);
    buf_fini(&b);
    if (was_cancelled)
        worker_link_cancel(l, l->link.last_number);
}

/* --- answers */

/* The members of a worker's line. All point into the line. */
struct reply {
    struct text id, commit, method, params, kind, value;
    bool has_version, is_bad;
};

/* A member that is unknown or occurs twice makes the line invalid: the
 * supervisor and the client could otherwise read it differently. */
static void
worker_link_take_member(struct reply *r, const struct json_member *m)
{
    struct text *known[] = {&r->id, &r->commit, &r->method, &r->params};
    static const char *const names[] = {"id", "commit", "method", "params"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_is(m->name, names[i])) {
            r->is_bad |= known[i]->p != NULL;
            *known[i] = m->value;
            return;
        }
    if (text_is(m->name, "jsonrpc")) {
        r->is_bad |= r->has_version || !text_is(m->value, "\"2.0\"");
        r->has_version = true;
    } else if (text_is(m->name, "result") || text_is(m->name, "error")) {
        r->is_bad |= r->kind.p != NULL;
        r->kind = m->name;
        r->value = m->value;
    } else {
        r->is_bad = true;
    }
}

/* Finds the members of a line. Returns false if the line is not a valid
 * message. */
static bool
worker_link_parse_reply(struct text line, struct reply *ret)
{
    struct json_member m;
    struct json_scan s;

    *ret = (struct reply){0};
    if (!json_scan_begin(line, &s))
        return false;
    while (json_scan_next(&s, &m))
        worker_link_take_member(ret, &m);
    return json_scan_is_over(&s) && ret->has_version && !ret->is_bad;
}

/* A list is enough: a session has few open calls. */
struct call *
worker_link_find_open(const struct life *l, uint64_t number)
{
    LIST_FOR_EACH(it, &l->link.open) {
        struct call *q = CONTAINER_OF(it, struct call, link);
        if (routing_of(q)->number == number)
            return q;
    }
    return NULL;
}

/* If the client is behind, its worker is not read until it has caught up. */
static void
worker_link_finish_call(struct life *l, OWN struct call *q)
{
    struct client *c = client_of(q);

    metrics_add(&l->s->sv->counters.answer,
                time_mono_ns() - routing_of(q)->begun_ns);
    if (!c->is_gone && c->ops->is_behind(c) && list_is_empty(&l->link.stall))
        list_push_back(&c->stalled, &l->link.stall);
    if (routing_of(q)->follow)
        routing_of(q)->follow(q);
    else
        answer_end(q);
}

/* The answer is complete, but is sent only when the store has its commit. A
 * commit that is there already needs no wait. */
static void
worker_link_answer_call(struct life *l, OWN struct call *q,
                        const struct reply *r)
{
    bool is_fine = text_is(r->kind, "result");

    if (is_fine && method_is(q->method, "process.start"))
        output_add_route(l, q, r->value);
    if (is_fine && method_is(q->method, "process.wait"))
        output_end_route(l, q);
    if (!routing_of(q)->follow || !is_fine) {
        routing_of(q)->follow = NULL;
        routing_of(q)->has_failed = !is_fine;
        answer_pass(q, r->kind, r->value);
    }
    list_remove(&q->link);
    if (routing_of(q)->commit <= l->commits.committed) {
        worker_link_finish_call(l, q);
        return;
    }
    list_push_back(&l->link.held, &q->link);
    l->link.held_bytes += q->answer.len;
}

/* The store has a new commit. Answers are in the order of their commits, so the
 * list is served from its head. Reading may continue now, because fewer answers
 * are held. */
void
worker_link_release(struct life *l)
{
    while (!list_is_empty(&l->link.held)) {
        struct call *q = CONTAINER_OF(l->link.held.next, struct call, link);
        if (routing_of(q)->commit > l->commits.committed)
            break;
        list_remove(&q->link);
        l->link.held_bytes -= q->answer.len;
        worker_link_finish_call(l, q);
    }
    if (l->link.leave_commit && l->link.leave_commit <= l->commits.committed)
        life_event(l, LIFE_LEFT, NULL);
    worker_link_read(l);
    worker_link_watch(l);
}

/* --- lines of the worker */

/* True for an `output` notification without any other member. */
static bool
worker_link_is_output(const struct reply *r)
{
    struct json_scan s;

    return text_is(r->method, "\"output\"") && !r->id.p && !r->kind.p &&
           !r->commit.p && r->params.p && json_scan_begin(r->params, &s);
}

/* Returns the message of an error object. */
static void
worker_link_error_text(struct text error, char *ret, size_t size)
{
    CLEANUP(json_fini) struct json_doc e = {0};
    struct json_fault fault;

    (void)json_read_copy(&e, error.p, error.len, &fault);
    const char *text = json_text(json_get(e.v, "message")).p;

    (void)snprintf(ret, size, "%s", text && *text ? text : "no reason given");
}

/* Handles an answer to one of our own requests, if that many are open. */
static void
worker_link_take_ask(struct life *l, uint64_t number, uint64_t commit,
                     const struct reply *r)
{
    char reason[REASON_BYTES] = "";

    if (!l->link.n_asked[number]) {
        life_fault(l, "an answer that nobody asked for");
        return;
    }
    l->link.n_asked[number]--;
    if (text_is(r->kind, "error"))
        worker_link_error_text(r->value, reason, sizeof reason);
    life_answered(l, number, commit, *reason ? reason : NULL);
}

/* An answer to a call that does not exist is a fault: the worker may be trying
 * to answer a call of another session. */
static void
worker_link_take_answer(struct life *l, const struct reply *r)
{
    uint64_t number = 0, commit = 0;

    if (!text_number(r->id, &number) || !r->kind.p || r->method.p ||
        r->params.p || (r->commit.p && !text_number(r->commit, &commit))) {
        life_fault(l, "a line that is no answer");
        return;
    }
    if (number <= ASK_LAST) {
        worker_link_take_ask(l, number, commit, r);
        return;
    }
    struct call *q = worker_link_find_open(l, number);
    if (!q) {
        life_fault(l, "an answer that nobody asked for");
        return;
    }
    routing_of(q)->commit = commit;
    worker_link_answer_call(l, q, r);
}

/* A line is output, an answer, or a violation of the protocol. */
static void
worker_link_take_line(struct life *l, struct text line)
{
    struct reply r;

    if (!worker_link_parse_reply(line, &r))
        life_fault(l, "a line that is not JSON-RPC");
    else if (worker_link_is_output(&r))
        output_pass(l, r.params);
    else
        worker_link_take_answer(l, &r);
}

/* The line was dropped because of its length. Its beginning names the call,
 * which fails alone. */
static void
worker_link_take_too_large(struct life *l)
{
    static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":";
    size_t n = strlen(head);
    const char *p = l->link.in.head;

    struct text id = {p + n, strspn(p + n, "0123456789")};
    uint64_t number = 0;
    struct call *q = NULL;

    if (!strncmp(p, head, n) && text_number(id, &number))
        q = worker_link_find_open(l, number);
    if (q)
        answer_error(q, SANDBOX_ERROR,
                     "EFBIG: the answer is longer than %d bytes; ask for parts",
                     ANSWER_BYTES_MAX);
    else
        life_fault(l, "a line of more than %d bytes", ANSWER_BYTES_MAX);
}

/* Handles the next line. Returns false if no complete line has arrived. */
static bool
worker_link_take_next(struct life *l)
{
    struct text t = {0};
    char *line;

    enum frame_event e = frame_next(&l->link.in, &line, &t.len);
    if (e == FRAME_MORE)
        return false;
    t.p = line;
    if (e == FRAME_TOO_LARGE)
        worker_link_take_too_large(l);
    else
        worker_link_take_line(l, t);
    return true;
}

/* False while the client is behind, too many answers are held, or the worker is
 * not trusted any more. */
static bool
worker_link_may_read(const struct life *l)
{
    return l->worker && l->link.state == LINK_OPEN &&
           l->commits.state == COMMITS_OPEN && list_is_empty(&l->link.stall) &&
           l->link.held_bytes <= HELD_BYTES_MAX;
}

/* Reads a limited number of times, so that a busy worker does not starve the
 * other sources of the event loop. */
void
worker_link_read(struct life *l)
{
    int n = 1;

    for (int i = 0; i < READS_AHEAD && n > 0; i++) {
        while (worker_link_may_read(l) && worker_link_take_next(l))
            ;
        if (worker_link_may_read(l))
            n = frame_read(&l->link.in, l->worker->rpc_hfd, true);
    }
    while (worker_link_may_read(l) && worker_link_take_next(l))
        ;
}

void
worker_link_watch(struct life *l)
{
    uint32_t events = worker_link_may_read(l) ? EPOLLIN : 0;

    if (outbox_queued(&l->link.out) && !l->link.out.is_broken)
        events |= EPOLLOUT;
    reactor_change(&l->s->sv->reactor, &l->link.source, events);
}

/* After a hang-up nothing will arrive any more. The death of the worker itself
 * is reported by its pool. */
static void
worker_link_on_rpc(struct source *source, uint32_t events)
{
    struct life *l = CONTAINER_OF(source, struct life, link.source);

    if (events & EPOLLOUT)
        outbox_flush(&l->link.out);
    if (events & (EPOLLIN | EPOLLHUP))
        worker_link_read(l);
    /* Nothing will come any more; that the worker is dead, its pool tells. */
    if (events & (EPOLLHUP | EPOLLERR))
        reactor_remove(&l->s->sv->reactor, &l->link.source);
    else
        worker_link_watch(l);
}

void
worker_link_init(struct worker_link *k)
{
    struct list *lists[] = {&k->open, &k->held, &k->routes, &k->stall};

    k->source.hfd = -1;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        list_init(lists[i]);
}

int
worker_link_open(struct life *l)
{
    l->link.state = LINK_OPEN;
    frame_init(&l->link.in, ANSWER_BYTES_MAX);
    outbox_init(&l->link.out, l->worker->rpc_hfd);
    l->link.last_number = ASK_LAST;
    l->link.source.ready = worker_link_on_rpc;
    return reactor_add(&l->s->sv->reactor, &l->link.source, l->worker->rpc_hfd,
                       EPOLLIN);
}

/* The worker is gone, and the calls cannot be answered. Whether they were
 * executed is unknown; the session continues from the last commit. */
static void
worker_link_interrupt_list(const struct life *l, struct list *calls)
{
    while (!list_is_empty(calls)) {
        struct call *q = CONTAINER_OF(calls->next, struct call, link);
        list_remove(&q->link);
        answer_error(
            q, SESSION_ERROR,
            "Session interrupted: %s%s%s: the request may have been executed "
            "in part; the session continues from its last answer",
            cause_names[l->outcome.cause], *l->outcome.reason ? ": " : "",
            l->outcome.reason);
    }
}

void
worker_link_interrupt(struct life *l)
{
    worker_link_interrupt_list(l, &l->link.held);
    worker_link_interrupt_list(l, &l->link.open);
}

/* Also removes the life from the list of workers that wait for a client. */
void
worker_link_close(struct life *l)
{
    if (l->link.state == LINK_CLOSED)
        return;
    l->link.state = LINK_CLOSED;
    reactor_remove(&l->s->sv->reactor, &l->link.source);
    list_remove(&l->link.stall);
    output_end_routes(l);
    frame_fini(&l->link.in);
    outbox_fini(&l->link.out);
}

/* --- clients */

/* The list is moved first, because a worker may have to wait for the same
 * client again. */
void
worker_link_go_on(struct client *c)
{
    struct list stalled;

    list_move(&c->stalled, &stalled);
    while (!list_is_empty(&stalled)) {
        struct life *l = CONTAINER_OF(stalled.next, struct life, link.stall);
        list_remove(&l->link.stall);
        worker_link_read(l);
        worker_link_watch(l);
    }
}

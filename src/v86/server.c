/* The front end of `--mode v86`: the same protocols, and the same order of
 * checks, as the server in src/rpc, over machines instead of sandboxes of the
 * library. A method or a parameter that this mode does not have is an error and
 * never ignored, so that a client notices the difference. */
#include "v86/server.h"

#include "base/os_time.h"
#include "base/parse.h"
#include "v86/job.h"
#include "v86/methods.h"
#include "v86/worker.h"
#include "wire/log.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES_MAX = 256 << 20 };

/* --- calls */

static struct call *
server_alloc(struct peer *p)
{
    struct v86_job *j = calloc(1, sizeof *j);

    (void)p;
    if (!j)
        return NULL;
    buf_init(&j->out, V86_STDIO_BYTES);
    buf_init(&j->err, V86_STDIO_BYTES);
    return &j->call;
}

static void
server_free(OWN struct call *q)
{
    struct v86_job *j = v86_job_of(q);

    if (j->sb && j->sb->job == j)
        j->sb->job = NULL;
    buf_fini(&j->out);
    buf_fini(&j->err);
    free(j->owned);
    free(j);
}

static void
server_send_line(struct peer *p, const char *line, size_t len, bool may_wait)
{
    (void)may_wait;
    outbox_put(&CONTAINER_OF(p, struct v86_server, peer)->out, line, len);
}

static bool
server_is_behind(struct peer *p)
{
    return outbox_is_behind(&CONTAINER_OF(p, struct v86_server, peer)->out);
}

/* The answer may have to wait until the changes are kept. */
static void
server_finish_call(OWN struct call *q)
{
    if (!v86_saver_begin(&v86_server_of(q)->saver, v86_job_of(q)))
        answer_send(q);
}

static void
server_answered(struct peer *p)
{
    (void)p;
}

struct v86_sandbox *
v86_server_find(struct v86_server *s, const char *id)
{
    uint64_t n;

    if (!parse_u64_text(id, UINT64_MAX, &n))
        return NULL;
    LIST_FOR_EACH(it, &s->sandboxes) {
        struct v86_sandbox *sb = CONTAINER_OF(it, struct v86_sandbox, link);

        if (sb->id == n && !sb->is_gone)
            return sb;
    }
    return NULL;
}

/* Methods of the root sandbox and of the line protocol ignore sandboxId. */
static void
server_submit(OWN struct call *q)
{
    struct v86_server *s = v86_server_of(q);
    const struct json *name = param(q, "sandboxId");
    struct v86_sandbox *sb = s->root;

    if (name && !(q->method->flags & (ROOT | LINE))) {
        if (!json_is(name, JSON_STRING)) {
            answer_error(q, INVALID_PARAMS, "sandboxId must be a string");
            return;
        }
        sb = v86_server_find(s, json_text(name).p);
        if (!sb) {
            answer_error(q, INVALID_PARAMS, "Unknown sandboxId: %.200s",
                         json_text(name).p);
            return;
        }
    }
    v86_sandbox_submit(sb, q);
}

/* Parameters of the other mode that would change nothing here. NULL: of any
 * method. */
static const struct {
    const char *method, *param;
} server_missing[] = {
    {"run", "keep"},
    {"run", "mark"},
    {"run", "trace"},
    {"persistence.export", "partBytes"},
    {"persistence.export", "transferId"},
    {"persistence.import", "transferId"},
    {NULL, "concurrent"},
    {"run", "windowBytes"},
};

/* Returns the name of a parameter that this mode does not have, or NULL. */
static const char *
server_find_missing(const struct call *q)
{
    for (size_t i = 0; i < sizeof server_missing / sizeof *server_missing; i++)
        if ((!server_missing[i].method ||
             method_is(q->method, server_missing[i].method)) &&
            param(q, server_missing[i].param))
            return server_missing[i].param;
    return NULL;
}

/* The order of the checks is that of the other mode. */
static void
server_dispatch(OWN struct call *q)
{
    struct v86_server *s = v86_server_of(q);
    const struct json *id = json_get(q->params, "id");
    char error[PARAM_ERROR_BYTES];

    if (call_is_line(q))
        s->is_created = true;
    if (call_is_line(q) && (!id || json_is(id, JSON_NULL)))
        answer_error(q, INVALID_PARAMS, "Missing required param: id");
    else if (call_is_line(q) && !json_is(id, JSON_STRING))
        answer_error(q, INVALID_PARAMS, "id must be a string");
    else if (!v86_methods_find(q->method))
        answer_error(q, SANDBOX_ERROR, "EPERM: not in mode v86: %s",
                     q->method->name);
    else if (!s->is_created && !(q->method->flags & EARLY))
        answer_error(q, INVALID_REQUEST, "Sandbox not created");
    else if (method_check(q->peer->methods, q->method, q->params, error) < 0)
        answer_error(q, INVALID_PARAMS, "%s", error);
    else if (server_find_missing(q))
        answer_error(q, SANDBOX_ERROR, "EPERM: not in mode v86: %s with %s",
                     q->method->name, server_find_missing(q));
    else
        server_submit(q);
}

/* An object of the line protocol. */
static void
server_dispatch_other(struct peer *p, struct message *msg,
                      const struct json *object)
{
    const struct json *type = json_get(object, "type");
    const struct json *json_id = json_get(object, "id");
    char *id = json_id ? message_id(json_id) : NULL;
    char text[256];

    if (!type || msg->is_batch) {
        peer_refuse(p, msg, id, INVALID_REQUEST,
                    "Invalid request: neither \"jsonrpc\" nor \"type\"");
    } else if (!json_is(type, JSON_STRING)) {
        peer_refuse_line(p, "error", id, "type must be a string");
    } else {
        struct text name = json_text(type);
        const struct method *m = method_find(p->methods, name, true);

        p->is_line = true;
        if (m) {
            peer_call(p, msg, m, object, id ? id : strdup("null"));
            return;
        }
        (void)snprintf(text, sizeof text, "Unknown type: %.200s", name.p);
        peer_refuse_line(p, name.p, id, text);
    }
    free(id);
}

static const struct peer_ops server_ops = {
    .calls_max = 1024,
    .bytes_max = 64 << 20,
    .urgent_max = 1024,
    .alloc = server_alloc,
    .serve = server_dispatch,
    .finish = server_finish_call,
    .free = server_free,
    .answered = server_answered,
    .send = server_send_line,
    .is_behind = server_is_behind,
    .other = server_dispatch_other,
};

/* Returns false at the end of the input. */
static bool
server_read_lines(struct v86_server *s)
{
    char *line;
    size_t len;
    enum frame_event e;
    int n = frame_read(&s->in, STDIN_FILENO, true);

    if (n <= 0)
        frame_end(&s->in);
    while ((e = frame_next(&s->in, &line, &len)) != FRAME_MORE)
        if (e == FRAME_LINE)
            peer_line(&s->peer, line, len);
        else
            peer_too_large(&s->peer, LINE_BYTES_MAX);
    return n > 0;
}

/* --- all sandboxes */

/* Returns the nth sandbox, the root first, or NULL. */
static struct v86_sandbox *
server_nth(struct v86_server *s, size_t n)
{
    struct list *l = &s->sandboxes;

    if (n == 0)
        return s->root;
    while (n--)
        l = l->next;
    return l == &s->sandboxes ? NULL
                              : CONTAINER_OF(l, struct v86_sandbox, link);
}

static int64_t
server_next_deadline(struct v86_server *s)
{
    int64_t first = INT64_MAX;

    for (size_t i = 0; i <= s->n_sandboxes; i++) {
        const struct v86_job *j = server_nth(s, i)->job;

        if (j && j->deadline_ns && j->deadline_ns < first)
            first = j->deadline_ns;
    }
    return first;
}

static int
server_timeout_ms(struct v86_server *s)
{
    int64_t first = server_next_deadline(s);
    int64_t left = first - time_mono_ns();

    if (first == INT64_MAX)
        return -1;
    return left <= 0 ? 0 : (int)(left / NS_PER_MS) + 1;
}

static void
server_check_deadline(struct v86_sandbox *sb)
{
    struct v86_job *j = sb->job;

    if (!j || !j->deadline_ns || time_mono_ns() < j->deadline_ns)
        return;
    j->deadline_ns = 0;
    j->on_timeout(j);
}

static bool
server_is_busy(struct v86_server *s)
{
    for (size_t i = 0; i <= s->n_sandboxes; i++)
        if (v86_sandbox_is_busy(server_nth(s, i)))
            return true;
    return peer_take_waiting(&s->peer);
}

/* Goes on with each sandbox, and frees those that are gone and idle. */
static void
server_continue(struct v86_server *s)
{
    for (size_t i = 0; i <= s->n_sandboxes; i++) {
        struct v86_sandbox *sb = server_nth(s, i);

        server_check_deadline(sb);
        v86_sandbox_continue(sb);
        if (sb->is_gone && !sb->job && list_is_empty(&sb->waiting)) {
            v86_sandbox_free(sb);
            s->n_sandboxes--;
            i--;
        }
    }
}

/* --- the loop */

/* Descriptors: the client's two, then two for each sandbox. */
enum { POLL_IN, POLL_OUT, POLL_SANDBOXES, POLL_MAX = 2 + 2 * (64 + 1) };

static void
server_watch(struct v86_sandbox *sb, bool is_behind, struct pollfd fds[2])
{
    short sends = outbox_queued(&sb->out) ? POLLOUT : 0;
    bool expects = sb->job && sb->job->on_control;

    fds[0] = (struct pollfd){
        .fd = sb->machine.hfd,
        .events = (short)(sends | (is_behind ? 0 : POLLIN)),
    };
    fds[1] = (struct pollfd){.fd = expects ? sb->machine.control : -1,
                             .events = POLLIN};
}

/* The control socket comes last, and only if the machine is still the same. */
static void
server_serve(struct v86_sandbox *sb, const struct pollfd fds[2])
{
    pid_t pid = sb->machine.pid;

    if (fds[0].revents & POLLOUT)
        outbox_flush(&sb->out);
    if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
        v86_sandbox_read(sb);
    if (fds[1].revents && sb->machine.pid == pid && sb->job &&
        sb->job->on_control)
        sb->job->on_control(sb->job);
}

/* Output that the client does not read stops the reading of both the client and
 * the agents, so that memory stays bounded. */
static void
server_loop(struct v86_server *s)
{
    bool has_input = true;

    while (!s->is_ending && !s->out.is_broken &&
           (has_input || server_is_busy(s))) {
        bool is_behind = outbox_is_behind(&s->out);
        size_t n = s->n_sandboxes + 1;
        struct pollfd fds[POLL_MAX] = {
            [POLL_IN] = {.fd = has_input && !is_behind ? STDIN_FILENO : -1,
                         .events = POLLIN},
            [POLL_OUT] = {.fd = outbox_queued(&s->out) ? STDOUT_FILENO : -1,
                          .events = POLLOUT},
        };

        for (size_t i = 0; i < n; i++)
            server_watch(server_nth(s, i), is_behind,
                         fds + POLL_SANDBOXES + 2 * i);
        (void)poll(fds, POLL_SANDBOXES + 2 * n, server_timeout_ms(s));
        if (fds[POLL_OUT].revents)
            outbox_flush(&s->out);
        for (size_t i = 0; i < n; i++)
            server_serve(server_nth(s, i), fds + POLL_SANDBOXES + 2 * i);
        if (fds[POLL_IN].revents)
            has_input = server_read_lines(s);
        server_continue(s);
        while (!peer_is_full(&s->peer) && peer_take_waiting(&s->peer))
            server_continue(s);
    }
}

/* The last answers are sent, however long the client takes to read them. */
static void
server_finish(struct v86_server *s)
{
    int flags = fcntl(STDOUT_FILENO, F_GETFL);

    (void)fcntl(STDOUT_FILENO, F_SETFL, flags & ~O_NONBLOCK);
    outbox_flush(&s->out);
    zygote_stop(&s->zygote);
}

static struct v86_sandbox *
server_first_sandbox(struct v86_server *s)
{
    struct zygote_child machine = ZYGOTE_NO_CHILD;

    if (zygote_request(s->zygote.control, ZYGOTE_FORK_RUNNING) < 0 ||
        zygote_receive(s->zygote.control, true, &machine) < 0)
        return NULL;
    return v86_sandbox_new(s, machine);
}

int
v86_server_boot(struct v86_server *s, OWN struct disk *d)
{
    char error[PUMP_ERROR_BYTES] = "";
    struct zygote z;
    int r = zygote_start(&z, d, &s->options, error);

    if (r < 0) {
        text_logf("v86: no new machine: %s", *error ? error : strerror(-r));
        disk_free(d);
        return r;
    }
    zygote_stop(&s->zygote);
    disk_free(s->disk);
    s->zygote = z;
    s->disk = d;
    return 0;
}

/* Opens the disk with its kept changes, and boots it. Returns 0, or -errno with
 * a text. */
static int
server_begin(struct v86_server *s, const struct v86_options *o,
             char error[PUMP_ERROR_BYTES])
{
    int r = zygote_open(&s->options, &s->disk, error);

    if (r < 0)
        return r;
    s->disk_bytes = disk_sectors(s->disk) * DISK_SECTOR_BYTES;
    if (o->overlay)
        r = v86_saver_open(&s->saver, o->overlay, s->disk, error);
    else if (o->is_worker)
        r = v86_saver_begin_session(&s->saver, V86_STATE_HFD, s->disk);
    if (r == 0 && o->is_worker)
        r = v86_worker_seal();
    return r < 0 ? r : zygote_start(&s->zygote, s->disk, &s->options, error);
}

int
v86_serve(const struct v86_options *o)
{
    static struct v86_server s;
    char error[PUMP_ERROR_BYTES] = "";

    s.options = o->zygote;
    s.ram_bytes = o->zygote.pump.ram_bytes;
    s.timeout_ms = o->timeout_ms;
    s.is_created = o->is_worker; /* the supervisor sends `create` first */
    s.started_ns = time_mono_ns();
    list_init(&s.sandboxes);
    int r = server_begin(&s, o, error);
    if (r < 0) {
        text_logf("wasm-sandbox: --disk-image %s: %s", o->zygote.image, error);
        return 1;
    }
    (void)fcntl(STDOUT_FILENO, F_SETFL,
                fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
    outbox_init(&s.out, STDOUT_FILENO);
    frame_init(&s.in, LINE_BYTES_MAX);
    peer_init(&s.peer, &server_ops,
              o->is_worker ? &v86_worker_methods : &v86_methods);
    s.root = server_first_sandbox(&s);
    if (s.root && o->is_worker)
        v86_worker_ready(&s);
    if (s.root)
        server_loop(&s);
    server_finish(&s);
    return 0;
}

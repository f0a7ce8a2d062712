/* A server that serves one session of the supervisor.
 *
 * Before a job's answer is sent, the changes go out as records, and the answer
 * names that commit. Jobs of the sandbox run one after the other, so there is
 * one commit at a time. If the supervisor is slow to read them, the job waits,
 * not the loop. */
#include "rpc/worker.h"

#include "record/record.h"
#include "rpc/job.h"
#include "rpc/methods.h"
#include "rpc/report.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUT_BYTES = 64 << 10, IN_BYTES = 256 << 10, EXIT_STATE = 3 };

struct session_worker {
    struct server *srv;
    int hfd;
    uint64_t n_commits;
    /* The rest is of the job that has the lease. */
    bool lacks_state; /* it was not loaded: what we have is not to be saved */
    size_t n_records; /* of the commit that is being sent */
    size_t n_out;
    uint8_t out[OUT_BYTES];
};

/* A partly sent commit cannot be undone. The supervisor has the state before
 * it, and starts another worker. */
static void __attribute__((noreturn))
worker_give_up(struct session_worker *w, const char *what, const char *why)
{
    report_line(w->srv, LOG_ERROR, "%s: %s", what, why);
    _exit(EXIT_STATE);
}

/* --- commits */

/* The socket does not block. A job waits here until the supervisor has read
 * enough; the loop is not concerned. */
static void
worker_send(struct session_worker *w, const void *data, size_t len)
{
    const char *p = data;

    while (len) {
        struct pollfd pfd = {w->hfd, POLLOUT, 0};
        ssize_t n = write(w->hfd, p, len);
        if (n < 0 && errno == EAGAIN)
            (void)poll(&pfd, 1, -1);
        else if (n < 0 && errno != EINTR)
            worker_give_up(w, "cannot send the state", strerror(errno));
        p += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
}

static void
worker_flush(struct session_worker *w)
{
    worker_send(w, w->out, w->n_out);
    w->n_out = 0;
}

/* Small frames are collected, because a commit may consist of thousands of
 * records. */
static void
worker_add(struct session_worker *w, const void *data, size_t len)
{
    if (!len)
        return;
    if (len > OUT_BYTES - w->n_out)
        worker_flush(w);
    if (len > OUT_BYTES) {
        worker_send(w, data, len);
        return;
    }
    memcpy(w->out + w->n_out, data, len);
    w->n_out += len;
}

/* A frame is a head, a key and a value; see record/record.h. */
static void
worker_add_frame(struct session_worker *w, enum record_op op, const void *key,
                 size_t key_len, const void *value, size_t len)
{
    const struct record_head h = {op, (uint16_t)key_len, (uint32_t)len};
    uint8_t head[RECORD_HEAD_BYTES];

    record_head_put(&h, head);
    worker_add(w, head, sizeof head);
    worker_add(w, key, key_len);
    worker_add(w, value, len);
}

/* The library calls this for each record that has changed; no value means that
 * the record is gone. */
static int
worker_put_record(void *arg, const void *key, size_t key_len, const void *value,
                  size_t len)
{
    struct session_worker *w = arg;

    w->n_records++;
    if (value)
        worker_add_frame(w, RECORD_PUT, key, key_len, value, len);
    else
        worker_add_frame(w, RECORD_DELETE, key, key_len, "", 0);
    return 0;
}

/* Nothing is sent for a job that has changed nothing, and its answer needs no
 * commit. */
uint64_t
worker_commit(struct session_worker *w, struct wsand_sandbox *sb,
              bool with_script)
{
    const struct wsand_sink to = {worker_put_record, w};
    struct wsand_error err = {0};
    uint8_t number[RECORD_END_BYTES];

    if (w->lacks_state)
        return 0;
    w->n_records = 0;
    if (wsand_state_changes(sb, &to, with_script, &err) != 0)
        worker_give_up(w, "cannot save the state", err.message);
    if (!w->n_records)
        return 0;
    record_end_put(++w->n_commits, number);
    worker_add_frame(w, RECORD_END, "", 0, number, sizeof number);
    worker_flush(w);
    return w->n_commits;
}

/* The commit is made here, so that job_finish does not make another one. */
void
do_state_commit(struct call *q)
{
    job_of(q)->commit = worker_commit(server_of(q)->worker, sandbox_of(q),
                                      param_bool(q, "script", false));
    answer_ok(q);
}

/* --- loading */

/* Bytes p[at..len) were read and not used yet. */
struct input {
    int hfd;
    uint8_t *p;
    size_t at, len, cap;
};

/* Grows the buffer to the size of the largest record, and waits for the bytes.
 */
static int
worker_have(struct input *in, size_t n, struct wsand_error *err)
{
    if (n > in->cap - in->at && in->at) {
        memmove(in->p, in->p + in->at, in->len - in->at);
        in->len -= in->at;
        in->at = 0;
    }
    if (n > in->cap) {
        uint8_t *p = realloc(in->p, n);
        if (!p)
            return report_fail(err, ENOMEM, "out of memory");
        in->p = p;
        in->cap = n;
    }
    while (in->len - in->at < n) {
        struct pollfd pfd = {in->hfd, POLLIN, 0};
        ssize_t got = read(in->hfd, in->p + in->len, in->cap - in->len);
        if (got < 0 && errno == EAGAIN)
            (void)poll(&pfd, 1, -1);
        else if (got == 0 || (got < 0 && errno != EINTR))
            return report_fail(err, EIO, "the state ends early");
        in->len += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

/* One frame: its key, and its value behind it. The input is consumed. */
static int
worker_next_frame(struct input *in, struct record_head *ret,
                  const uint8_t **ret_key, struct wsand_error *err)
{
    int r = worker_have(in, RECORD_HEAD_BYTES, err);
    if (r < 0)
        return r;
    if (record_head_get(in->p + in->at, ret) < 0 || ret->op == RECORD_DELETE)
        return report_fail(err, EINVAL,
                           "not a saved state, or damaged: a malformed frame");
    in->at += RECORD_HEAD_BYTES;
    size_t n = ret->key_len + (size_t)ret->value_len;
    r = worker_have(in, n, err);
    if (r < 0)
        return r;
    *ret_key = in->p + in->at;
    in->at += n;
    return 0;
}

/* An error of a record is reported at the end, so that the stream stays
 * synchronised. *ret is NULL if there is no record. */
static int
worker_read_state(struct input *in, struct wsand_sandbox *sb,
                  struct wsand_state **ret, struct wsand_error *err)
{
    struct record_head h = {.op = RECORD_PUT};
    const uint8_t *key = NULL;
    int wrong = 0;

    for (;;) {
        struct wsand_error later = {0};
        int r = worker_next_frame(in, &h, &key, &later);
        if (r < 0 && !wrong)
            *err = later;
        if (r < 0)
            return r;
        if (h.op == RECORD_END && record_end_get(key) == RECORD_BROKEN_OFF)
            return report_fail(err, ECANCELED,
                               "the transfer of the state was cancelled");
        if (h.op == RECORD_END)
            return wrong;
        if (wrong == 0 && !*ret)
            wrong = wsand_state_begin(sb, ret, err);
        if (wrong == 0)
            wrong = wsand_state_put(*ret, key, h.key_len, key + h.key_len,
                                    h.value_len, err);
    }
}

/* A worker whose state could not be loaded has an empty sandbox. Its commits
 * would delete the state in the store, so it makes none. */
void
do_state_load(struct call *q)
{
    struct input in = {.hfd = server_of(q)->worker->hfd, .cap = IN_BYTES};
    struct wsand_error err = {0};
    struct wsand_state *st = NULL;

    in.p = malloc(in.cap);
    int r = in.p ? worker_read_state(&in, sandbox_of(q), &st, &err)
                 : report_fail(&err, ENOMEM, "out of memory");
    if (r == 0 && st)
        r = wsand_state_apply(STEAL(st), &err);
    wsand_state_free(st);
    free(in.p);
    server_of(q)->worker->lacks_state = r < 0;
    answer_status(q, r, &err);
}

/* --- what a session does not have */

const char *
worker_refuses(const struct call *q)
{
    /* Parameters of `create`, which others than the supervisor's clients have.
     */
    static const char *const params[] = {"wasmDir", "shellWasmPath",
                                         "extensions", "storage"};

    if (!(q->method->where & WORKER))
        return q->method->name;
    if (q->method->handle != do_create)
        return NULL;
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        const struct json *v = param(q, params[i]);
        if (v && !json_is(v, JSON_FALSE))
            return params[i];
    }
    return NULL;
}

/* --- life */

static int
worker_drop_record(void *arg, const void *key, size_t key_len,
                   const void *value, size_t len)
{
    (void)arg, (void)key, (void)key_len, (void)value, (void)len;
    return 0;
}

/* All that a first run and a first commit need is loaded, hashed and mapped. */
static int
worker_warm_up(struct wsand_runtime *rt, struct wsand_error *err)
{
    const struct wsand_options o = {.size = sizeof o};
    const struct wsand_run run = {
        .size = sizeof run, .command = "true", .command_len = 4};
    const struct wsand_sink to = {.put = worker_drop_record};
    struct wsand_output out = {.size = sizeof out};
    struct wsand_sandbox *sb = NULL;

    int r = wsand_sandbox_new(rt, &o, &sb, err);
    if (r == 0)
        r = wsand_run(sb, &run, &out, err);
    if (r == 0)
        r = wsand_state_changes(sb, &to, false, err);
    wsand_output_free(&out);
    wsand_sandbox_free(sb);
    return r;
}

static bool
worker_is_sealed(struct server *srv)
{
    const struct worker_options *o = srv->options->worker;
    const char *where = "";
    int r = o->seal ? o->seal(&where) : 0;

    if (r < 0)
        report_line(srv, LOG_ERROR, "cannot seal: %s: %s", where, strerror(-r));
    return r == 0;
}

/* The seal comes first: everything after it must work without privileges. */
bool
worker_begin(struct server *srv)
{
    static const char ready[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"worker.ready\"}\n";
    struct session_worker *w = calloc(1, sizeof *w);
    struct wsand_error err = {0};

    if (!w)
        return false;
    w->srv = srv;
    w->hfd = srv->options->worker->state_hfd;
    srv->worker = w;
    if (!worker_is_sealed(srv))
        return false;
    if (worker_warm_up(srv->rt, &err) < 0) {
        report_line(srv, LOG_ERROR, "%s", wsand_error_text(&err));
        return false;
    }
    writer_put(&srv->out, ready, sizeof ready - 1, false);
    return true;
}

void
worker_free(struct session_worker *w)
{
    free(w);
}

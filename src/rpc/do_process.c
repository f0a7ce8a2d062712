/* process.*: a bash of its own, beside run. */
#include "rpc/process.h"

#include "rpc/methods.h"
#include "rpc/report.h"
#include "rpc/run.h"
#include "rpc/values.h"
#include "wire/stream.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 24, COLS = 80 };

/* Kept until its sandbox is freed: the library may call back until then. */
struct client_process {
    struct list link;
    struct work work; /* after its end */
    struct server *srv;
    char id[24], sandbox_id[32];
    uint64_t number;
    struct stream stream;   /* of the sandbox's thread */
    struct call *starter;   /* until it has started */
    atomic_bool is_stalled; /* has output, but the client is far behind */
    /* guarded by srv->lock */
    struct list waiters; /* requests */
    bool has_ended;
    int exit_code;
};

/* --- what the library tells */

/* The library calls this on the thread that runs the sandbox, in the order of
 * the output. */
static void
process_on_output(void *arg, uint64_t id, int stream, const void *data,
                  size_t len)
{
    struct client_process *p = arg;

    (void)id;
    stream_on_output(&p->stream, stream, data, len);
}

/* Set the flag before testing the condition; otherwise a change in between
 * would not wake us. */
static bool
process_has_room(void *arg)
{
    struct client_process *p = arg;

    if (!writer_is_behind(&p->srv->out))
        return true;
    p->is_stalled = true;
    p->srv->has_stalled = true;
    return !writer_is_behind(&p->srv->out);
}

/* A process without window waits in its write, as with a full pipe. */
static size_t
process_window(void *arg)
{
    struct client_process *p = arg;

    return stream_window(&p->stream);
}

/* The lease of the sandbox is needed for a commit only. */
static void
process_exit_job(struct wsand_sandbox *sb, void *arg)
{
    struct call *q = arg;

    job_of(q)->sb = sb;
    job_of(q)->has_lease = true;
    answer_end(q);
}

/* A worker commits first what the process has done to files. */
static void
process_answer_exit(OWN struct call *q, int exit_code)
{
    buf_printf(answer_begin(q), "{\"exitCode\":%d}", exit_code);
    if (!server_of(q)->worker ||
        wsand_post(slot_of(q)->sb, process_exit_job, q, NULL) < 0)
        answer_end(q);
}

/* Further calls of process.wait see has_ended, so the list is complete. */
static void
process_answer_waiters(struct work *w)
{
    struct client_process *p = CONTAINER_OF(w, struct client_process, work);
    struct list waiters;

    pthread_mutex_lock(&p->srv->lock);
    list_move(&p->waiters, &waiters);
    pthread_mutex_unlock(&p->srv->lock);
    LIST_FOR_EACH_SAFE(it, &waiters)
        process_answer_exit(CONTAINER_OF(it, struct call, link), p->exit_code);
}

/* The thread of the sandbox only records the end. Answers are sent by the
 * loop, which may post a job for the commit of a worker. */
static void
process_ended(void *arg, uint64_t id, int exit_code)
{
    struct client_process *p = arg;

    (void)id;
    stream_end(&p->stream);
    pthread_mutex_lock(&p->srv->lock);
    p->exit_code = exit_code;
    p->has_ended = true;
    bool has_waiters = !list_is_empty(&p->waiters);
    pthread_mutex_unlock(&p->srv->lock);
    if (has_waiters)
        loop_post(p->srv, &p->work, process_answer_waiters);
}

/* --- the table */

/* The id is not known yet: on_start sets it. */
static struct client_process *
process_new(const struct call *q)
{
    struct slot *slot = slot_of(q);
    struct client_process *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->srv = slot->srv;
    p->stream = (struct stream){.peer = &slot->srv->peer,
                                .id_name = "process_id",
                                .id = p->id,
                                .sandbox_id = p->sandbox_id,
                                .is_base64 = param_is_base64(q)};
    stream_set_window(&p->stream, q);
    if (slot->id)
        (void)snprintf(p->sandbox_id, sizeof p->sandbox_id, "\"%" PRIu64 "\"",
                       slot->id);
    else
        (void)snprintf(p->sandbox_id, sizeof p->sandbox_id, "null");
    list_init(&p->waiters);
    list_init(&p->link);
    return p;
}

static void
client_process_free(struct client_process *p)
{
    list_remove(&p->link);
    free(p);
}

/* The sandbox is gone, so that the library cannot call back any more. */
void
process_free_all(struct slot *slot)
{
    LIST_FOR_EACH_SAFE(it, &slot->processes)
        client_process_free(CONTAINER_OF(it, struct client_process, link));
}

/* With the lock held. */
static struct client_process *
client_process_find(const struct call *q)
{
    uint64_t number = (uint64_t)param_int(q, "processId", 0);

    LIST_FOR_EACH(it, &slot_of(q)->processes) {
        struct client_process *p =
            CONTAINER_OF(it, struct client_process, link);
        if (p->number == number)
            return p;
    }
    return NULL;
}

/* One that is stalled, which it is no more; 0: none is. */
static uint64_t
process_take_stalled(struct slot *slot)
{
    uint64_t number = 0;

    pthread_mutex_lock(&slot->srv->lock);
    LIST_FOR_EACH(it, &slot->processes) {
        struct client_process *p =
            CONTAINER_OF(it, struct client_process, link);
        if (!number && atomic_exchange(&p->is_stalled, false))
            number = p->number;
    }
    pthread_mutex_unlock(&slot->srv->lock);
    return number;
}

/* One process at a time is removed from the stalled ones, and resumed without
 * the lock. */
void
process_resume_all(struct slot *slot)
{
    uint64_t number;

    while (slot->phase == SLOT_READY && (number = process_take_stalled(slot)))
        (void)wsand_process_resume(slot->sb, number, NULL);
}

/* --- requests */

/* The answer comes before the output of the process. */
static void
process_on_start(void *arg, uint64_t id)
{
    struct client_process *p = arg;
    struct call *q = p->starter;

    p->number = id;
    (void)snprintf(p->id, sizeof p->id, "%" PRIu64, id);
    pthread_mutex_lock(&p->srv->lock);
    list_push_back(&slot_of(q)->processes, &p->link);
    pthread_mutex_unlock(&p->srv->lock);
    buf_printf(answer_begin(q), "{\"processId\":%s}", p->id);
    answer_end(q);
}

/* The starter is answered by process_on_start, before the output of the
 * process. */
static int
process_start(struct call *q, struct client_process *p, struct wsand_error *err)
{
    uint64_t id;
    char **env;

    int r = param_env(q, "env", &env);
    if (r < 0)
        return report_fail(err, -r, "out of memory");
    struct wsand_process_options o = {
        .size = sizeof o,
        .command = param_text(q, "command"),
        .is_pty = param_bool(q, "pty", false),
        .rows = (uint16_t)param_int(q, "rows", ROWS),
        .cols = (uint16_t)param_int(q, "cols", COLS),
        .cwd = param_text(q, "cwd"),
        .user = param_text(q, "user"),
        .env = (const char *const *)env,
        .on_output = process_on_output,
        .on_exit = process_ended,
        .arg = p,
        .on_start = process_on_start,
        .has_room = process_has_room,
        .window = process_window};
    p->starter = q;
    r = wsand_process_start(sandbox_of(q), &o, &id, err);
    free(env);
    return r;
}

/* Without a command, only a terminal makes sense: a shell that reads from
 * nothing would end at once. */
void
do_process_start(struct call *q)
{
    struct wsand_error err = {0};

    if (!param(q, "command") && !param_bool(q, "pty", false)) {
        answer_error(q, INVALID_PARAMS, "Missing required param: command");
        return;
    }
    struct client_process *p = process_new(q);
    if (!p) {
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
        return;
    }
    if (process_start(q, p, &err) < 0) {
        client_process_free(p);
        answer_failure(q, &err);
    }
}

/* The end of input follows the data, in the same order. */
static int
process_write_data(struct call *q, struct text data, struct wsand_error *err)
{
    uint64_t id = (uint64_t)param_int(q, "processId", 0);

    int r = data.len
                ? wsand_process_write(sandbox_of(q), id, data.p, data.len, err)
                : 0;
    if (r == 0 && param_bool(q, "eof", false))
        r = wsand_process_write(sandbox_of(q), id, NULL, 0, err);
    return r;
}

/* The call never waits for the process to read. */
void
do_process_write(struct call *q)
{
    struct text data = param_string(q, "data");
    struct wsand_error err = {0};
    char *owned = NULL;

    if (data.p && param_is_base64(q)) {
        if (decode_base64(data, &owned, &data.len) < 0) {
            answer_error(q, INVALID_PARAMS, "data is not base64");
            return;
        }
        data.p = owned;
    }
    int r = process_write_data(q, data, &err);
    free(owned);
    answer_status(q, r, &err);
}

void
do_process_resize(struct call *q)
{
    struct wsand_error err = {0};

    int r = wsand_process_resize(sandbox_of(q),
                                 (uint64_t)param_int(q, "processId", 0),
                                 (uint16_t)param_int(q, "rows", ROWS),
                                 (uint16_t)param_int(q, "cols", COLS), &err);
    answer_status(q, r, &err);
}

void
do_process_kill(struct call *q)
{
    struct wsand_error err = {0};

    int r = wsand_process_kill(sandbox_of(q),
                               (uint64_t)param_int(q, "processId", 0),
                               (int)param_int(q, "signal", SIGTERM), &err);
    answer_status(q, r, &err);
}

static void
process_answer_none(OWN struct call *q)
{
    answer_error(q, SANDBOX_ERROR, "ESRCH: no such process: %" PRIi64,
                 param_int(q, "processId", 0));
}

/* The window is larger before the process is woken, so that it can write at
 * once. */
static void
process_add_window(OWN struct call *q)
{
    pthread_mutex_lock(&server_of(q)->lock);
    struct client_process *p = client_process_find(q);
    if (p)
        stream_add_window(&p->stream, param_int(q, "bytes", 0));
    pthread_mutex_unlock(&server_of(q)->lock);
    if (!p) {
        process_answer_none(q);
        return;
    }
    (void)wsand_process_resume(sandbox_of(q), p->number, NULL);
    answer_ok(q);
}

/* The id is that of a request, which may be a string or a number. */
static void
process_add_run_window(OWN struct call *q)
{
    char *id = message_id(param(q, "requestId"));

    if (!id) {
        answer_error(q, INVALID_PARAMS,
                     "requestId must be a string or a number");
        return;
    }
    run_add_window(slot_of(q), id, param_int(q, "bytes", 0));
    free(id);
    (void)wsand_run_resume(sandbox_of(q), NULL);
    answer_ok(q);
}

/* Of a process or run that has ended meanwhile, it is no error: the client
 * could not know. */
void
do_output_window(struct call *q)
{
    bool is_run = param(q, "requestId");

    if (is_run == (param(q, "processId") != NULL))
        answer_error(q, INVALID_PARAMS,
                     "output.window needs either processId or requestId");
    else if (is_run)
        process_add_run_window(q);
    else
        process_add_window(q);
}

/* Whether the process has ended and where the call waits are decided under one
 * lock. So no end is missed between the two. */
void
do_process_wait(struct call *q)
{
    struct server *srv = server_of(q);
    bool has_ended = false;
    int exit_code = 0;

    pthread_mutex_lock(&srv->lock);
    struct client_process *p = client_process_find(q);
    if (p) {
        has_ended = p->has_ended;
        exit_code = p->exit_code;
    }
    if (p && !has_ended)
        list_push_back(&p->waiters, &q->link);
    pthread_mutex_unlock(&srv->lock);
    if (!p)
        process_answer_none(q);
    else if (has_ended)
        process_answer_exit(q, exit_code);
}

/* The calls are answered without the lock, because answering may take it. */
void
process_refuse_waiters(struct slot *slot)
{
    struct list waiters;

    list_init(&waiters);
    pthread_mutex_lock(&slot->srv->lock);
    LIST_FOR_EACH(it, &slot->processes) {
        struct client_process *p =
            CONTAINER_OF(it, struct client_process, link);
        LIST_FOR_EACH_SAFE(w, &p->waiters) {
            list_remove(w);
            list_push_back(&waiters, w);
        }
    }
    pthread_mutex_unlock(&slot->srv->lock);
    LIST_FOR_EACH_SAFE(w, &waiters)
        answer_error(CONTAINER_OF(w, struct call, link), SANDBOX_ERROR,
                     "ECANCELED: the sandbox is gone");
}

static void
process_put(struct buf *b, const struct wsand_process *p)
{
    buf_printf(b, "{\"processId\":%" PRIu64 ",\"command\":", p->id);
    if (p->command)
        put_text(b, p->command);
    else
        buf_puts(b, "null");
    put_bool(b, "pty", p->is_pty);
    put_bool(b, "running", !p->has_ended);
    if (p->has_ended)
        buf_printf(b, ",\"exitCode\":%d", p->exit_code);
    buf_add(b, "}", 1);
}

/* Processes that have ended are listed with their exit code. */
void
do_process_list(struct call *q)
{
    struct wsand_error err = {0};
    struct wsand_process *v;
    size_t n;

    int r = wsand_process_list(sandbox_of(q), &v, &n, &err);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    struct buf *b = answer_begin(q);
    buf_puts(b, "{\"processes\":[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_add(b, ",", 1);
        process_put(b, &v[i]);
    }
    buf_puts(b, "]}");
    free(v);
    answer_end(q);
}

/* code.*: contexts of Python cells, on processes beside the shell. */
#include "rpc/code.h"

#include "base/os_time.h"
#include "rpc/callback.h"
#include "rpc/config.h"
#include "rpc/methods.h"
#include "rpc/values.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXTS_MAX = 16, RESULTS_BYTES_MAX = 16 << 20 };
#define GRACE_NS (2 * NS_PER_S) /* between an interrupt and a kill */

/* --- the table */

/* With the lock held. */
static struct code_context *
code_find(const struct slot *slot, uint64_t number)
{
    LIST_FOR_EACH(it, &slot->contexts) {
        struct code_context *c = CONTAINER_OF(it, struct code_context, link);
        if (c->number == number && !c->is_removed)
            return c;
    }
    return NULL;
}

static size_t
code_count(const struct slot *slot)
{
    size_t n = 0;

    LIST_FOR_EACH(it, &slot->contexts)
        n += !CONTAINER_OF(it, struct code_context, link)->is_removed;
    return n;
}

/* With the lock held. NULL: no memory. */
static struct code_context *
code_new(struct slot *slot, uint64_t number)
{
    struct code_context *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->slot = slot;
    c->number = number;
    buf_init(&c->frame, 0);
    list_push_back(&slot->contexts, &c->link);
    return c;
}

static void
code_free(struct code_context *c)
{
    list_remove(&c->link);
    (void)callback_forget(c->slot->srv, c->timer);
    code_reset(c);
    buf_fini(&c->frame);
    free(c->cwd);
    free(c->env);
    free(c);
}

/* The sandbox is gone, so that the library cannot call back any more. Until
 * then, contexts that were removed stay too. */
void
code_free_all(struct slot *slot)
{
    LIST_FOR_EACH_SAFE(it, &slot->contexts)
        code_free(CONTAINER_OF(it, struct code_context, link));
}

static void
code_answer_none(OWN struct call *q)
{
    answer_error(q, SANDBOX_ERROR, "ENOENT: no such context: %" PRIi64,
                 param_int(q, "contextId", 0));
}

/* --- answers */

static void
code_put_ending(struct buf *b, const struct code_context *c)
{
    if (c->has_ended && !c->error.len)
        buf_printf(b,
                   ",\"error\":{\"name\":\"ContextEnded\",\"value\":\"the "
                   "process of the context ended with status "
                   "%d\",\"traceback\":\"\"}",
                   c->exit_code);
    else if (c->error.len) {
        put_name(b, "error");
        buf_add(b, c->error.p, c->error.len);
    } else
        buf_puts(b, ",\"error\":null");
    put_number(b, "executionCount", (uint64_t)c->count);
    if (c->ended_by)
        put_member(b, "errorClass", c->ended_by);
    if (c->has_ended)
        buf_printf(b, ",\"exitCode\":%d", c->exit_code);
    if (c->is_restarted)
        put_bool(b, "restarted", true);
}

static void
code_put_output(struct buf *b, const struct code_context *c, const char *name,
                const struct buf *out)
{
    put_name(b, name);
    if (c->stream.is_base64)
        put_base64(b, out->p, out->len);
    else
        put_string(b, out->p ? out->p : "", out->len);
}

static void
code_put_answer(struct buf *b, const struct code_context *c)
{
    buf_puts(b, "{\"results\":[");
    buf_add(b, c->results.p, c->results.len);
    buf_puts(b, "]");
    code_put_output(b, c, "stdout", &c->out);
    code_put_output(b, c, "stderr", &c->err);
    code_put_ending(b, c);
    if (c->out.error || c->err.error) {
        put_name(b, "truncated");
        buf_puts(b, "{");
        put_bool(b, "stdout", c->out.error);
        put_bool(b, "stderr", c->err.error);
        buf_puts(b, "}");
    }
    if (c->stream.is_base64)
        put_member(b, "encoding", "base64");
    buf_puts(b, "}");
}

/* The lease of the sandbox is needed for a commit only. */
static void
code_answer_job(struct wsand_sandbox *sb, void *arg)
{
    struct call *q = arg;

    job_of(q)->sb = sb;
    job_of(q)->has_lease = true;
    answer_end(q);
}

/* Takes the cell from the context, which can run another one afterwards. */
static struct call *
code_take_call(struct code_context *c)
{
    pthread_mutex_lock(&c->slot->srv->lock);
    struct call *q = STEAL(c->q);
    uint64_t timer = c->timer;
    c->timer = 0;
    c->is_over = false;
    pthread_mutex_unlock(&c->slot->srv->lock);
    if (timer)
        (void)callback_forget(c->slot->srv, timer);
    return q;
}

/* A worker commits first what the cell has done to files. */
void
code_answer(struct work *w)
{
    struct code_context *c = CONTAINER_OF(w, struct code_context, work);
    struct call *q = code_take_call(c);

    if (!q)
        return; /* it was refused meanwhile */
    if (c->is_streamed)
        stream_end(&c->stream);
    code_put_answer(answer_begin(q), c);
    code_reset(c);
    if (!server_of(q)->worker ||
        wsand_post(slot_of(q)->sb, code_answer_job, q, NULL) < 0)
        answer_end(q);
}

/* Returns a context whose cell can be answered, or NULL. A cell that is
 * beginning is marked: its handler has it answered. */
static struct code_context *
code_find_busy(struct slot *slot)
{
    struct code_context *found = NULL;

    pthread_mutex_lock(&slot->srv->lock);
    LIST_FOR_EACH(it, &slot->contexts) {
        struct code_context *c = CONTAINER_OF(it, struct code_context, link);
        if (c->is_beginning)
            c->is_over = c->has_ended = true;
        else if (c->q)
            found = c;
    }
    pthread_mutex_unlock(&slot->srv->lock);
    return found;
}

void
code_refuse_all(struct slot *slot)
{
    struct code_context *c;

    while ((c = code_find_busy(slot)))
        answer_error(code_take_call(c), SANDBOX_ERROR,
                     "ECANCELED: the sandbox is gone");
}

/* A cell that is beginning has no process yet, but will have one. */
bool
code_cancel(struct slot *slot, const char *id)
{
    struct code_context *found = NULL;

    pthread_mutex_lock(&slot->srv->lock);
    LIST_FOR_EACH(it, &slot->contexts) {
        struct code_context *c = CONTAINER_OF(it, struct code_context, link);
        if (c->q && c->q->id && id_equals(c->q->id, id))
            found = c;
    }
    if (found)
        found->ended_by = "CANCELLED";
    pthread_mutex_unlock(&slot->srv->lock);
    if (found)
        code_signal(found, SIGINT);
    return found;
}

/* Returns the process of a context that was stalled, or 0. */
static uint64_t
code_take_stalled(struct slot *slot)
{
    uint64_t id = 0;

    pthread_mutex_lock(&slot->srv->lock);
    LIST_FOR_EACH(it, &slot->contexts) {
        struct code_context *c = CONTAINER_OF(it, struct code_context, link);
        if (!id && atomic_exchange(&c->is_stalled, false))
            id = c->process;
    }
    pthread_mutex_unlock(&slot->srv->lock);
    return id;
}

void
code_resume_all(struct slot *slot)
{
    uint64_t id;

    while (slot->phase == SLOT_READY && (id = code_take_stalled(slot)))
        (void)wsand_process_resume(slot->sb, id, NULL);
}

/* --- requests */

/* A deterministic sandbox advances only during calls that run something, and
 * these are not. */
static bool
code_is_possible(OWN struct call *q)
{
    const struct sandbox_config *c = slot_of(q)->config;

    if (!config_value(c, "seed") && !config_value(c, "clock"))
        return true;
    answer_error(q, SANDBOX_ERROR,
                 "EOPNOTSUPP: a sandbox with seed or clock has no contexts");
    return false;
}

void
do_code_create(struct call *q)
{
    struct slot *slot = slot_of(q);
    const char *cwd = param_text(q, "cwd");
    char **env = NULL;

    if (!code_is_possible(q))
        return;
    if (code_count(slot) >= CONTEXTS_MAX) {
        answer_error(q, SANDBOX_ERROR,
                     "EAGAIN: there are %d contexts, the maximum; remove one",
                     CONTEXTS_MAX);
        return;
    }
    int r = param_env(q, "env", &env);
    char *copy = cwd ? strdup(cwd) : NULL;
    pthread_mutex_lock(&slot->srv->lock);
    struct code_context *c =
        r == 0 && !cwd == !copy ? code_new(slot, ++slot->last_context) : NULL;
    pthread_mutex_unlock(&slot->srv->lock);
    if (!c) {
        free(env);
        free(copy);
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
        return;
    }
    c->cwd = copy;
    c->env = env;
    buf_printf(answer_begin(q), "{\"contextId\":%" PRIu64 "}", c->number);
    answer_end(q);
}

/* Interrupts the cell at its deadline, and kills its process later if that does
 * not help. At the end of the server, code_refuse_all has answered. */
static void
code_on_deadline(void *arg, const struct json *result, const char *error)
{
    struct code_context *c = arg;
    struct server *srv = c->slot->srv;

    (void)result;
    (void)error;
    pthread_mutex_lock(&srv->lock);
    bool is_first = !c->ended_by || strcmp(c->ended_by, "TIMEOUT") != 0;
    bool is_running = c->q && !c->is_over;
    c->timer = 0;
    c->ended_by = "TIMEOUT";
    pthread_mutex_unlock(&srv->lock);
    if (!is_running)
        return;
    code_signal(c, is_first ? SIGINT : SIGKILL);
    if (is_first)
        c->timer =
            callback_after(srv, time_mono_ns() + GRACE_NS, code_on_deadline, c);
}

/* With the lock held: the context runs this cell from now on. */
static void
code_prepare(struct code_context *c, struct call *q)
{
    const struct sandbox_config *config = c->slot->config;

    c->q = q;
    c->is_beginning = true;
    c->is_over = c->has_ended = c->is_restarted = false;
    c->ended_by = NULL;
    c->exit_code = 0;
    buf_init(&c->out, config->stdout_bytes);
    buf_init(&c->err, config->stderr_bytes);
    buf_init(&c->results, RESULTS_BYTES_MAX);
    buf_init(&c->error, RESULTS_BYTES_MAX);
    c->is_streamed = param_bool(q, "stream", false);
    c->stream = (struct stream){.peer = q->peer,
                                .id_name = "request_id",
                                .id = q->id ? q->id : "null",
                                .is_base64 = param_is_base64(q)};
}

/* Finds the context of a cell and reserves it. NULL: q was answered. The
 * context 0 exists when it is first used. */
static struct code_context *
code_reserve(struct call *q)
{
    struct slot *slot = slot_of(q);
    uint64_t number = (uint64_t)param_int(q, "contextId", 0);

    pthread_mutex_lock(&slot->srv->lock);
    struct code_context *c = code_find(slot, number);
    if (!c && !number)
        c = code_new(slot, 0);
    bool is_busy = c && c->q;
    if (c && !is_busy)
        code_prepare(c, q);
    pthread_mutex_unlock(&slot->srv->lock);
    if (c && !is_busy)
        return c;
    if (is_busy)
        answer_error(q, SANDBOX_ERROR,
                     "EBUSY: the context runs a cell: %" PRIu64, number);
    else
        code_answer_none(q);
    return NULL;
}

/* Returns true if q is to be answered with the failure of its beginning. A cell
 * that is over by now is answered by the loop instead. */
static bool
code_has_begun(struct code_context *c, bool has_failed)
{
    pthread_mutex_lock(&c->slot->srv->lock);
    bool is_over = c->is_over;
    c->is_beginning = c->is_over = false;
    if (is_over)
        code_finish(c);
    else if (has_failed)
        c->q = NULL;
    pthread_mutex_unlock(&c->slot->srv->lock);
    if (is_over)
        loop_wake(c->slot->srv);
    return has_failed && !is_over;
}

/* The deadline includes the start of the process. */
void
do_code_run(struct call *q)
{
    struct wsand_error err = {0};

    if (!code_is_possible(q))
        return;
    struct code_context *c = code_reserve(q);
    if (!c)
        return;
    int64_t ms =
        param_int(q, "timeoutMs", (int64_t)slot_of(q)->config->timeout_ms);
    c->timer = callback_after(server_of(q), time_mono_ns() + ms * NS_PER_MS,
                              code_on_deadline, c);
    if (!code_has_begun(c, code_begin(c, q, &err) < 0))
        return;
    (void)code_take_call(c);
    answer_failure(q, &err);
}

/* Returns the context that q names, or NULL after answering. The context 0 may
 * not have been used yet, which is no error. */
static struct code_context *
code_of(struct call *q)
{
    uint64_t number = (uint64_t)param_int(q, "contextId", 0);

    pthread_mutex_lock(&server_of(q)->lock);
    struct code_context *c = code_find(slot_of(q), number);
    pthread_mutex_unlock(&server_of(q)->lock);
    if (!c && number)
        code_answer_none(q);
    else if (!c)
        answer_ok(q);
    return c;
}

void
do_code_interrupt(struct call *q)
{
    struct code_context *c = code_of(q);

    if (!c)
        return;
    code_signal(c, SIGINT);
    answer_ok(q);
}

void
do_code_restart(struct call *q)
{
    struct code_context *c = code_of(q);

    if (!c)
        return;
    code_drop_process(c);
    answer_ok(q);
}

void
do_code_remove(struct call *q)
{
    struct code_context *c = code_of(q);

    if (!c)
        return;
    pthread_mutex_lock(&server_of(q)->lock);
    c->is_removed = true;
    pthread_mutex_unlock(&server_of(q)->lock);
    code_drop_process(c);
    answer_ok(q);
}

static void
code_put(struct buf *b, const struct code_context *c)
{
    buf_printf(b, "{\"contextId\":%" PRIu64, c->number);
    put_bool(b, "running", c->process);
    put_bool(b, "busy", c->q);
    put_number(b, "executionCount", (uint64_t)c->count);
    buf_puts(b, "}");
}

void
do_code_list(struct call *q)
{
    struct buf *b = answer_begin(q);
    const char *comma = "";

    buf_puts(b, "{\"contexts\":[");
    pthread_mutex_lock(&server_of(q)->lock);
    LIST_FOR_EACH(it, &slot_of(q)->contexts) {
        const struct code_context *c =
            CONTAINER_OF(it, struct code_context, link);
        if (c->is_removed)
            continue;
        buf_puts(b, comma);
        code_put(b, c);
        comma = ",";
    }
    pthread_mutex_unlock(&server_of(q)->lock);
    buf_puts(b, "]}");
    answer_end(q);
}

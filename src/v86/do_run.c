/* run and shell: commands in the shell of the guest.
 *
 * A command that runs into its time limit is killed by the agent. A guest that
 * does not answer this within some seconds does not work any more: its machine
 * is replaced by one in the state of the start. */
#include "base/base64.h"
#include "base/os_time.h"
#include "v86/image/agent.h"
#include "v86/job.h"
#include "wire/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_CANCELLED = 130, EXIT_TIMED_OUT = 124, EXIT_KILLED = 137 };

static const int64_t GRACE_NS = 10 * NS_PER_S;

/* --- results */

static void
run_put_bytes(struct buf *b, const struct call *q, const char *name,
              const struct buf *bytes)
{
    char renamed[32];

    if (v86_is_base64(q) && call_is_line(q)) {
        (void)snprintf(renamed, sizeof renamed, "%s_base64", name);
        name = renamed;
    }
    put_name(b, name);
    if (v86_is_base64(q))
        put_base64(b, bytes->p, bytes->len);
    else
        put_string(b, bytes->p, bytes->len);
}

static void
run_put_dropped(struct buf *b, const struct v86_job *j)
{
    if (!j->out_dropped && !j->err_dropped)
        return;
    put_name(b, "truncated");
    buf_add(b, "{", 1);
    put_bool(b, "stdout", j->out_dropped);
    put_bool(b, "stderr", j->err_dropped);
    buf_add(b, "}", 1);
}

/* The reason why a run has no exit status of its own; NULL: it has one. */
static const char *
run_error(const struct v86_job *j, const char *death)
{
    if (death)
        return "Command execution failed: the machine has stopped";
    if (j->has_timed_out)
        return "Command execution failed: timeout exceeded";
    return j->is_cancelled ? "Command execution failed: cancelled" : NULL;
}

static void
run_put_line(struct buf *b, const struct v86_job *j, int status,
             const char *death)
{
    const char *error = run_error(j, death);

    run_put_bytes(b, &j->call, "stdout", &j->out);
    run_put_bytes(b, &j->call, "stderr", &j->err);
    put_name(b, "exit_code");
    if (error)
        buf_puts(b, "null");
    else
        buf_printf(b, "%d", status);
    put_bool(b, "timed_out", j->has_timed_out);
    run_put_dropped(b, j);
    if (error)
        put_member(b, "error", error);
    if (death)
        put_member(b, "limit", "machine");
}

static void
run_put_reasons(struct buf *b, const struct v86_job *j, const char *death)
{
    if (j->has_timed_out)
        put_member(b, "errorClass", "TIMEOUT");
    else if (j->is_cancelled)
        put_member(b, "errorClass", "CANCELLED");
    if (death) {
        put_member(b, "limit", "machine");
        put_member(b, "message", death);
    }
}

static void
run_put_result(struct buf *b, const struct v86_job *j, int status,
               const char *death)
{
    int64_t us = (time_mono_ns() - j->start_ns) / 1000;

    buf_printf(b, "{\"exitCode\":%d", status);
    run_put_bytes(b, &j->call, "stdout", &j->out);
    run_put_bytes(b, &j->call, "stderr", &j->err);
    put_name(b, "executionTimeMs");
    buf_printf(b, "%lld.%03d", (long long)(us / 1000), (int)(us % 1000));
    run_put_dropped(b, j);
    run_put_reasons(b, j, death);
    if (v86_is_base64(&j->call))
        put_member(b, "encoding", "base64");
    buf_add(b, "}", 1);
}

static void
run_answer(OWN struct v86_job *j, int status, const char *death)
{
    if (j->has_timed_out)
        status = EXIT_TIMED_OUT;
    else if (j->is_cancelled)
        status = EXIT_CANCELLED;
    if (j->is_streaming)
        stream_end(&j->stream);

    struct buf *b = answer_begin(&j->call);
    if (call_is_line(&j->call))
        run_put_line(b, j, status, death);
    else
        run_put_result(b, j, status, death);
    answer_end(&j->call);
}

/* --- messages of the agent */

/* Keeps the first part of the output. */
static void
run_keep(struct buf *b, uint64_t *dropped, const uint8_t *p, uint32_t len)
{
    size_t room = b->max - b->len, n = len < room ? len : room;

    buf_add(b, p, n);
    *dropped += len - n;
}

static void
run_take_output(struct v86_job *j, int stream, const uint8_t *p, uint32_t len)
{
    bool is_merged =
        param_bool(&j->call, "mergeStderr", false) && !call_is_line(&j->call);

    if (stream == 2 && is_merged)
        stream = 1;
    if (j->is_streaming)
        stream_on_output(&j->stream, stream, p, len);
    if (stream == 1)
        run_keep(&j->out, &j->out_dropped, p, len);
    else
        run_keep(&j->err, &j->err_dropped, p, len);
}

static void
run_send_input(struct v86_job *j)
{
    size_t left = j->input.len - j->input_at;
    size_t n = left < AGENT_DATA_MAX ? left : AGENT_DATA_MAX;

    v86_sandbox_send(j->sb, AGENT_STDIN, NULL, 0, j->input.p + j->input_at, n);
    j->input_at += n;
}

static void
run_on_message(struct v86_job *j, uint32_t type, const uint8_t *p, uint32_t len)
{
    int32_t status = EXIT_KILLED;

    switch (type) {
    case AGENT_STDOUT:
        run_take_output(j, 1, p, len);
        break;
    case AGENT_STDERR:
        run_take_output(j, 2, p, len);
        break;
    case AGENT_WANTS_STDIN:
        run_send_input(j);
        break;
    case AGENT_EXIT:
        if (len == sizeof status)
            memcpy(&status, p, sizeof status);
        run_answer(j, status, NULL);
        break;
    default:
        break;
    }
}

static void
run_on_death(struct v86_job *j, const char *why)
{
    run_answer(j, EXIT_KILLED, why);
}

static void
run_on_second_timeout(struct v86_job *j)
{
    text_logf("v86: the guest's kernel does not answer");
    v86_sandbox_replace(j->sb);
    j->sb->job = NULL;
    run_answer(j, EXIT_KILLED,
               "the guest's kernel does not answer: the machine is in the "
               "state of its start again");
}

void
v86_run_kill(struct v86_job *j)
{
    v86_sandbox_send(j->sb, AGENT_KILL, NULL, 0, NULL, 0);
    j->deadline_ns = time_mono_ns() + GRACE_NS;
    j->on_timeout = run_on_second_timeout;
}

static void
run_on_timeout(struct v86_job *j)
{
    j->has_timed_out = true;
    v86_run_kill(j);
}

/* --- starting */

void
v86_put_quoted(struct buf *b, struct text t)
{
    buf_add(b, "'", 1);
    for (size_t i = 0; i < t.len; i++)
        if (t.p[i] == '\'')
            buf_puts(b, "'\\''");
        else
            buf_add(b, t.p + i, 1);
    buf_add(b, "'", 1);
}

/* A folder and variables that are for this run only are set in a subshell. */
static void
run_put_script(struct buf *b, const struct call *q)
{
    struct text command = param_string(q, "command");
    const struct json *cwd = call_is_line(q) ? NULL : param(q, "cwd");
    const struct json *env = call_is_line(q) ? NULL : param(q, "env");

    if (!cwd && !env) {
        buf_add(b, command.p, command.len);
        return;
    }
    buf_puts(b, "(");
    if (cwd) {
        buf_puts(b, "cd -- ");
        v86_put_quoted(b, json_text(cwd));
        buf_puts(b, " || exit 126; ");
    }
    JSON_EACH_KEY(key, env) {
        buf_puts(b, "export ");
        v86_put_quoted(b, json_text(key));
        buf_puts(b, "=");
        v86_put_quoted(b, json_text(json_value(key)));
        buf_puts(b, "; ");
    }
    buf_puts(b, "eval ");
    v86_put_quoted(b, command);
    buf_puts(b, ")");
}

/* Returns false after answering: standard input is not base64. */
static bool
run_take_input(struct v86_job *j)
{
    struct call *q = &j->call;

    if (call_is_line(q))
        return true;
    j->input = param_string(q, "stdin");
    if (!j->input.p || !v86_is_base64(q))
        return true;
    j->owned = malloc(BASE64_BYTES(j->input.len) + 1);
    if (!j->owned ||
        base64_decode(j->input.p, j->input.len, j->owned, &j->input.len) < 0) {
        answer_error(q, SANDBOX_ERROR, "EINVAL: stdin is not base64");
        return false;
    }
    j->input.p = j->owned;
    return true;
}

void
v86_run_script(struct call *q, OWN struct buf *script)
{
    uint32_t flags = v86_job_of(q)->input.len ? AGENT_RUN_STDIN : 0;

    v86_sandbox_send(v86_job_of(q)->sb, AGENT_RUN, &flags, sizeof flags,
                     script->p, script->len);
    buf_fini(script);
}

static int64_t
run_timeout_ms(const struct call *q)
{
    int64_t given = v86_server_of(q)->timeout_ms;

    if (call_is_line(q))
        return param_int(q, "time_limit_ms",
                         given ? given : V86_LINE_TIMEOUT_MS);
    return param_int(q, "timeoutMs", given ? given : V86_TIMEOUT_MS);
}

void
v86_do_run(struct call *q)
{
    struct v86_job *j = v86_job_of(q);
    struct buf script;

    if (!run_take_input(j))
        return;
    if (!call_is_line(q) && param_bool(q, "stream", false)) {
        j->is_streaming = true;
        j->stream = (struct stream){.peer = q->peer,
                                    .id_name = "request_id",
                                    .id = q->id ? q->id : "null",
                                    .is_base64 = v86_is_base64(q)};
    }
    buf_init(&script, SIZE_MAX);
    run_put_script(&script, q);
    v86_run_script(q, &script);
    j->on_message = run_on_message;
    j->on_death = run_on_death;
    j->on_timeout = run_on_timeout;
    j->start_ns = time_mono_ns();
    j->deadline_ns = j->start_ns + run_timeout_ms(q) * NS_PER_MS;
}

/* --- cancelling */

/* Ends the run with that id, or the current one. One that waits is answered as
 * if it had been ended at once. */
static bool
run_cancel(struct v86_sandbox *sb, const char *id)
{
    struct v86_job *j = sb->job;

    if (j && j->on_timeout && !j->is_copied &&
        (!id || id_equals(j->call.id, id))) {
        j->is_cancelled = true;
        v86_run_kill(j);
        return true;
    }
    for (struct list *l = sb->waiting.next; l != &sb->waiting; l = l->next) {
        struct call *q = CONTAINER_OF(l, struct call, link);

        if (!method_is(q->method, "run") || (id && !id_equals(q->id, id)))
            continue;
        list_remove(&q->link);
        v86_job_of(q)->is_cancelled = true;
        v86_job_of(q)->start_ns = time_mono_ns();
        run_answer(v86_job_of(q), EXIT_CANCELLED, NULL);
        return true;
    }
    return false;
}

void
v86_do_cancel(struct call *q)
{
    char *id;

    if (!call_get_request_id(q, &id))
        return;
    bool found = run_cancel(v86_job_of(q)->sb, id);
    free(id);
    answer_cancelled(q, found);
}

/* run and shell: commands in the resident shell.
 *
 * Both protocols have the same command with different results: `run` reports
 * how a command ended in errorClass, `shell` in timed_out and error. The order
 * of the members is part of the interface, because clients show the results to
 * people. */
#include "rpc/advice.h"
#include "rpc/code.h"
#include "rpc/config.h"
#include "rpc/methods.h"
#include "rpc/report.h"
#include "rpc/run.h"
#include "rpc/values.h"
#include "wire/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMED_OUT "command timed out\n"

enum { EXIT_CANCELLED = 130 };

/* --- results */

/* Output that is not UTF-8 is shown with replacement characters, unless the
 * client asked for base64. */
static void
do_run_put_bytes(struct buf *b, const struct call *q, const char *name,
                 struct text t)
{
    char renamed[32];

    if (param_is_base64(q) && call_is_line(q)) {
        (void)snprintf(renamed, sizeof renamed, "%s_base64", name);
        name = renamed;
    }
    put_name(b, name);
    if (param_is_base64(q))
        put_base64(b, t.p, t.len);
    else
        put_string(b, t.p, t.len);
}

/* Output beyond its limit was dropped: of which stream, and how much if both of
 * its ends were kept. */
static void
do_run_put_dropped(struct buf *b, const struct call *q,
                   const struct wsand_output *o)
{
    put_name(b, "truncated");
    buf_add(b, "{", 1);
    put_bool(b, "stdout", o->out_dropped);
    put_bool(b, "stderr", o->err_dropped);
    buf_add(b, "}", 1);
    if (call_is_line(q) || !param_is(q, "keep", "ends"))
        return;
    put_name(b, "omittedBytes");
    buf_add(b, "{", 1);
    put_number(b, "stdout", o->out_dropped);
    put_number(b, "stderr", o->err_dropped);
    buf_add(b, "}", 1);
}

static void
do_run_put_text(struct buf *b, const char *name, const char *value)
{
    put_name(b, name);
    put_text(b, value);
}

/* The hosts that the command was denied. A port of 0 is not known. */
static void
do_run_put_denied(struct buf *b, const struct wsand_output *o)
{
    put_name(b, "denied");
    buf_add(b, "[", 1);
    for (size_t i = 0; i < o->n_denied; i++) {
        buf_puts(b, i ? ",{\"host\":" : "{\"host\":");
        put_text(b, o->denied[i].host);
        if (o->denied[i].port)
            put_number(b, "port", o->denied[i].port);
        do_run_put_text(b, "reason", o->denied[i].reason);
        buf_add(b, "}", 1);
    }
    buf_add(b, "]", 1);
}

/* Members that few results have. */
static void
do_run_put_reasons(struct buf *b, const struct call *q,
                   const struct wsand_output *o)
{
    if (o->out_dropped || o->err_dropped)
        do_run_put_dropped(b, q, o);
    if (o->error_class)
        do_run_put_text(b, "errorClass", wsand_class_name(o->error_class));
    if (o->limit)
        do_run_put_text(b, "limit", o->limit);
    put_message(b, q, o);
    if (o->n_denied)
        do_run_put_denied(b, o);
}

/* Figures come after the reasons, and members that are often absent at the
 * end. */
static void
do_run_put_result(struct buf *b, const struct call *q,
                  const struct wsand_output *o)
{
    buf_printf(b, "{\"exitCode\":%d", o->exit_code);
    do_run_put_bytes(b, q, "stdout", (struct text){o->out, o->out_len});
    do_run_put_bytes(b, q, "stderr", (struct text){o->err, o->err_len});
    put_name(b, "executionTimeMs");
    buf_printf(b, "%llu.%03u", (unsigned long long)(o->time_us / 1000),
               (unsigned)(o->time_us % 1000));
    if (o->error_class || o->limit || o->n_denied || o->out_dropped ||
        o->err_dropped)
        do_run_put_reasons(b, q, o);
    put_number(b, "cpuMs", o->cpu_ms);
    put_number(b, "maxMemoryBytes", o->max_memory_bytes);
    if (o->background_len)
        do_run_put_bytes(b, q, "background",
                         (struct text){o->background, o->background_len});
    if (o->trace_len) {
        put_name(b, "trace");
        put_string(b, o->trace, o->trace_len);
    }
    if (param_is_base64(q))
        do_run_put_text(b, "encoding", "base64");
    buf_add(b, "}", 1);
}

/* The line protocol has `error` for what the library says at the end. */
static struct text
do_run_printed_errors(const struct wsand_output *o)
{
    size_t len = strlen(TIMED_OUT);
    bool is_said = o->timed_out && o->err_len >= len &&
                   !memcmp(o->err + o->err_len - len, TIMED_OUT, len);

    return (struct text){o->err, o->err_len - (is_said ? len : 0)};
}

/* A command that was ended has no exit code in this protocol. */
static void
do_run_put_line(struct buf *b, const struct call *q,
                const struct wsand_output *o)
{
    bool has_ended = !o->timed_out && !o->cancelled;

    do_run_put_bytes(b, q, "stdout", (struct text){o->out, o->out_len});
    do_run_put_bytes(b, q, "stderr", do_run_printed_errors(o));
    put_name(b, "exit_code");
    if (has_ended)
        buf_printf(b, "%d", o->exit_code);
    else
        buf_puts(b, "null");
    put_bool(b, "timed_out", o->timed_out);
    if (o->out_dropped || o->err_dropped)
        do_run_put_dropped(b, q, o);
    if (!has_ended)
        do_run_put_text(b, "error",
                        o->timed_out
                            ? "Command execution failed: timeout exceeded"
                            : "Command execution failed: cancelled");
}

/* --- running */

/* Decodes standard input; *ret_owned holds the bytes, and the caller frees it.
 */
static int
do_run_decode_input(struct text *input, char **ret_owned,
                    struct wsand_error *err)
{
    int r = decode_base64(*input, ret_owned, &input->len);
    if (r < 0)
        return report_fail(err, -r, "stdin is not base64");
    input->p = *ret_owned;
    return 0;
}

/* The stream is known to output.window only while the command runs. The last
 * bytes of an incomplete character are sent before the answer. The line
 * protocol has no parameter `keep`. */
static int
do_run_command(struct call *q, struct wsand_output *ret,
               struct wsand_error *err)
{
    struct text command = param_string(q, "command");
    struct stream stream = {.peer = q->peer,
                            .id_name = "request_id",
                            .id = q->id ? q->id : "null",
                            .is_base64 = param_is_base64(q),
                            .may_wait = true};
    const struct sandbox_config *c = slot_of(q)->config;
    int64_t timeout_ms =
        call_is_line(q)
            ? param_int(q, "time_limit_ms", (int64_t)c->line_timeout_ms)
            : param_int(q, "timeoutMs", (int64_t)c->timeout_ms);
    struct text input = param_string(q, "stdin");
    char *owned = NULL, **env = NULL;
    int r = 0;

    if (input.p && stream.is_base64)
        r = do_run_decode_input(&input, &owned, err);
    if (r < 0)
        return r;
    if (param(q, "env") && param_env(q, "env", &env) < 0) {
        free(owned);
        return report_fail(err, ENOMEM, "out of memory");
    }
    struct wsand_run x = {
        .size = sizeof x,
        .command = command.p,
        .command_len = command.len,
        .input = input.p,
        .input_len = input.len,
        .timeout_ms = (uint64_t)timeout_ms,
        .cwd = param_text(q, "cwd"),
        .env = (const char *const *)env,
        .merge_stderr = param_bool(q, "mergeStderr", false),
        .keep_ends = !call_is_line(q) && param_is(q, "keep", "ends"),
        .is_unmarked = stream.is_base64 && !param_bool(q, "mark", false),
        .trace = param_bool(q, "trace", false)};
    if (param_bool(q, "stream", false)) {
        stream_set_window(&stream, q);
        run_set_stream(q, &stream);
        x.on_output = stream_on_output;
        x.window = stream_window;
        x.on_output_arg = &stream;
    }
    r = wsand_run(sandbox_of(q), &x, ret, err);
    if (x.on_output) {
        run_set_stream(q, NULL);
        stream_end(&stream);
    }
    free(env);
    free(owned);
    return r;
}

/* A run that was cancelled before it began is answered as if it had been ended
 * at once. The run is forgotten before it is answered: a client that has the
 * answer may reuse the id. */
void
do_run(struct call *q)
{
    struct wsand_output out = {.size = sizeof out,
                               .exit_code = EXIT_CANCELLED,
                               .cancelled = true,
                               .error_class = WSAND_CANCELLED};
    struct wsand_error err = {0};

    int r = run_begin(q) ? do_run_command(q, &out, &err) : 0;
    run_forget(q);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    struct buf *b = answer_begin(q);
    if (call_is_line(q))
        do_run_put_line(b, q, &out);
    else
        do_run_put_result(b, q, &out);
    answer_end(q);
    wsand_output_free(&out);
}

/* --- cancelling */

/* Cancelling a run that has just ended is no error. The client could not know.
 */
void
do_cancel(struct call *q)
{
    char *id;

    if (!call_get_request_id(q, &id))
        return;
    bool found =
        run_cancel(slot_of(q), id) || (id && code_cancel(slot_of(q), id));
    free(id);
    answer_cancelled(q, found);
}

/* env.*, snapshot.*, shell.history.*: the state of a sandbox.
 *
 * The environment is that of the resident shell. A snapshot contains files,
 * environment and shell, but no processes: notCopied lists those that ran. */
#include "rpc/job.h"
#include "rpc/methods.h"
#include "rpc/values.h"

#include "base/parse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the environment */

void
do_env_set(struct call *q)
{
    struct wsand_error err = {0};

    int r = wsand_env_set(sandbox_of(q), param_text(q, "name"),
                          param_text(q, "value"), &err);
    answer_status(q, r, &err);
}

/* A variable that is not set is null, not an error. */
void
do_env_get(struct call *q)
{
    struct wsand_error err = {0};
    char *value;

    int r = wsand_env_get(sandbox_of(q), param_text(q, "name"), &value, &err);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    struct buf *b = answer_begin(q);
    buf_puts(b, "{\"value\":");
    if (value)
        put_text(b, value);
    else
        buf_puts(b, "null");
    buf_puts(b, "}");
    free(value);
    answer_end(q);
}

void
do_env_unset(struct call *q)
{
    struct wsand_error err = {0};

    int r = wsand_env_unset(sandbox_of(q), param_text(q, "name"), &err);
    answer_status(q, r, &err);
}

void
do_env_list(struct call *q)
{
    struct wsand_error err = {0};
    char **env;

    int r = wsand_env_list(sandbox_of(q), &env, &err);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    struct buf *b = answer_begin(q);
    buf_puts(b, "{\"env\":");
    put_env(b, (const char *const *)env);
    buf_puts(b, "}");
    free(env);
    answer_end(q);
}

/* --- snapshots */

void
do_snapshot_create(struct call *q)
{
    struct wsand_error err = {0};
    uint64_t id;

    int r = wsand_snapshot_create(sandbox_of(q), &id, &err);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    buf_printf(answer_begin(q), "{\"id\":\"%" PRIu64 "\"}", id);
    answer_end(q);
}

/* 0: there can be none of this name. */
static uint64_t
snapshot_id(const struct call *q)
{
    int64_t n = param_int(q, "id", 0);
    uint64_t id;

    if (!json_is(param(q, "id"), JSON_STRING))
        return n > 0 ? (uint64_t)n : 0;
    return parse_u64_text(param_text(q, "id"), UINT64_MAX, &id) ? id : 0;
}

typedef int snapshot_fn(struct wsand_sandbox *sb, uint64_t id,
                        struct wsand_error *err);

/* The id is a string in our answers, but a number is accepted, too. Text that
 * is no number names no snapshot. */
static int
snapshot_use(struct call *q, snapshot_fn *fn, struct wsand_error *err)
{
    uint64_t id = snapshot_id(q);

    if (id || !json_is(param(q, "id"), JSON_STRING))
        return fn(sandbox_of(q), id, err);
    *err = (struct wsand_error){.errnum = ENOENT};
    (void)snprintf(err->message, sizeof err->message,
                   "ENOENT: no such snapshot: %.200s", param_text(q, "id"));
    return -ENOENT;
}

/* The list is for display. Without memory for it, the result just lacks it. */
void
put_not_copied(struct buf *b, struct wsand_sandbox *sb)
{
    struct wsand_lost_process *v = NULL;
    size_t n = 0;

    if (wsand_not_copied(sb, &v, &n, NULL) < 0 || !n) {
        free(v);
        return;
    }
    put_name(b, "notCopied");
    for (size_t i = 0; i < n; i++) {
        buf_printf(b, "%s{\"pid\":%d", i ? "," : "[", v[i].pid);
        if (v[i].process_id)
            put_number(b, "processId", v[i].process_id);
        put_name(b, "command");
        put_text(b, v[i].command);
        buf_puts(b, "}");
    }
    buf_puts(b, "]");
    free(v);
}

/* The list of lost processes is that of the snapshot, so it is read after
 * restoring. */
void
do_snapshot_restore(struct call *q)
{
    struct wsand_error err = {0};

    if (snapshot_use(q, wsand_snapshot_restore, &err) < 0) {
        answer_failure(q, &err);
        return;
    }
    struct buf *b = answer_begin(q);
    buf_puts(b, "{\"ok\":true");
    put_not_copied(b, sandbox_of(q));
    buf_puts(b, "}");
    answer_end(q);
}

void
do_sandbox_reset(struct call *q)
{
    struct wsand_error err = {0};

    answer_status(q, wsand_reset(sandbox_of(q), &err), &err);
}

void
do_snapshot_delete(struct call *q)
{
    struct wsand_error err = {0};

    answer_status(q, snapshot_use(q, wsand_snapshot_delete, &err), &err);
}

void
do_snapshot_list(struct call *q)
{
    struct wsand_error err = {0};
    uint64_t *ids;
    size_t n;

    int r = wsand_snapshot_list(sandbox_of(q), &ids, &n, &err);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    struct buf *b = answer_begin(q);
    buf_puts(b, "{\"snapshots\":[");
    for (size_t i = 0; i < n; i++)
        buf_printf(b, "%s{\"id\":\"%" PRIu64 "\"}", i ? "," : "", ids[i]);
    buf_puts(b, "]}");
    free(ids);
    answer_end(q);
}

/* --- history */

/* Indexes begin with 1, as in bash. */
void
do_history_list(struct call *q)
{
    struct wsand_error err = {0};
    char **list;

    int r = wsand_history_list(sandbox_of(q), &list, &err);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    struct buf *b = answer_begin(q);
    buf_puts(b, "{\"entries\":[");
    for (size_t i = 0; list[i]; i++) {
        buf_printf(b, "%s{\"index\":%zu,\"command\":", i ? "," : "", i + 1);
        put_text(b, list[i]);
        buf_puts(b, "}");
    }
    buf_puts(b, "]}");
    free(list);
    answer_end(q);
}

/* Clearing cannot fail. */
void
do_history_clear(struct call *q)
{
    wsand_history_clear(sandbox_of(q));
    answer_ok(q);
}

/* sandbox.* and snapshot.*: copies of machines. */
#include "base/os_time.h"
#include "base/parse.h"
#include "v86/job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SANDBOXES_MAX = 64 };

/* --- sandboxes */

/* Returns false after answering: there are too many. */
static bool
copies_check_count(OWN struct call *q)
{
    if (v86_server_of(q)->n_sandboxes < SANDBOXES_MAX)
        return true;
    answer_error(q, SANDBOX_ERROR, "EAGAIN: more than %d sandboxes",
                 SANDBOXES_MAX);
    return false;
}

static void
copies_add(OWN struct call *q, OWN struct zygote_child machine)
{
    struct v86_server *s = v86_server_of(q);
    const char *label = param_text(q, "label");
    struct v86_sandbox *sb = v86_sandbox_new(s, machine);

    if (!sb) {
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
        return;
    }
    sb->id = ++s->last_id;
    sb->label = label ? strdup(label) : NULL;
    list_push_back(&s->sandboxes, &sb->link);
    s->n_sandboxes++;
    buf_printf(answer_begin(q), "{\"sandboxId\":\"%" PRIu64 "\"}", sb->id);
    answer_end(q);
}

/* Returns false if the machine has ended; then the call was answered. */
static bool
copies_receive(struct v86_job *j, bool runs, struct zygote_child *ret)
{
    j->on_control = NULL;
    if (zygote_receive(j->sb->machine.control, runs, ret) == 0)
        return true;
    v86_sandbox_die(j->sb, "the machine's process has ended");
    return false;
}

static void
copies_on_fork(struct v86_job *j)
{
    struct zygote_child child = ZYGOTE_NO_CHILD;

    if (copies_receive(j, true, &child))
        copies_add(&j->call, child);
}

/* Asks the machine for a fork; on_control receives it. */
static void
copies_request(struct call *q, enum zygote_request request,
               void (*on_control)(struct v86_job *j))
{
    struct v86_job *j = v86_job_of(q);

    j->on_death = v86_job_on_death;
    j->on_control = on_control;
    (void)zygote_request(j->sb->machine.control, request);
}

void
v86_do_sandbox_fork(struct call *q)
{
    if (copies_check_count(q))
        copies_request(q, ZYGOTE_FORK_RUNNING, copies_on_fork);
}

void
v86_do_sandbox_create(struct call *q)
{
    struct zygote_child child = ZYGOTE_NO_CHILD;
    int control = v86_server_of(q)->zygote.control;

    if (!copies_check_count(q))
        return;
    int r = zygote_request(control, ZYGOTE_FORK_RUNNING);
    if (r == 0)
        r = zygote_receive(control, true, &child);
    if (r < 0)
        answer_error(q, INTERNAL_ERROR, "no new machine: %s", strerror(-r));
    else
        copies_add(q, child);
}

void
v86_do_sandbox_list(struct call *q)
{
    struct buf *b = answer_begin(q);

    buf_add(b, "[", 1);
    LIST_FOR_EACH(it, &v86_server_of(q)->sandboxes) {
        const struct v86_sandbox *sb =
            CONTAINER_OF(it, struct v86_sandbox, link);

        if (sb->is_gone)
            continue;
        if (b->p[b->len - 1] == '}')
            buf_add(b, ",", 1);
        buf_printf(b, "{\"sandboxId\":\"%" PRIu64 "\"", sb->id);
        if (sb->label)
            put_member(b, "label", sb->label);
        put_name(b, "createdAt");
        put_time(b, sb->created_ms);
        buf_add(b, "}", 1);
    }
    buf_add(b, "]", 1);
    answer_end(q);
}

/* The sandbox is freed after its earlier requests. */
void
v86_do_sandbox_destroy(struct call *q)
{
    struct v86_sandbox *sb =
        v86_server_find(v86_server_of(q), param_text(q, "sandboxId"));

    if (sb)
        sb->is_gone = true;
    answer_ok(q);
}

/* --- snapshots */

static struct v86_snapshot *
copies_find(struct v86_sandbox *sb, uint64_t id)
{
    for (size_t i = 0; i < V86_SNAPSHOTS_MAX; i++)
        if (sb->snapshot[i].id == id)
            return &sb->snapshot[i];
    return NULL;
}

/* Returns the snapshot that the call names, or NULL after answering. */
static struct v86_snapshot *
copies_named(OWN struct call *q)
{
    const struct json *v = param(q, "id");
    uint64_t id = (uint64_t)param_int(q, "id", 0);

    if (json_is(v, JSON_STRING) &&
        !parse_u64_text(json_text(v).p, UINT64_MAX, &id))
        id = 0;
    struct v86_snapshot *s = id ? copies_find(v86_job_of(q)->sb, id) : NULL;
    if (s)
        return s;
    if (json_is(v, JSON_STRING))
        answer_error(q, SANDBOX_ERROR, "ENOENT: no such snapshot: %.200s",
                     json_text(v).p);
    else
        answer_error(q, SANDBOX_ERROR, "ENOENT: no such snapshot: %" PRIu64,
                     id);
    return NULL;
}

/* A free place exists, because the request was checked. */
static void
copies_on_snapshot(struct v86_job *j)
{
    struct v86_snapshot *s = copies_find(j->sb, 0);
    struct zygote_child child = ZYGOTE_NO_CHILD;

    if (!copies_receive(j, false, &child))
        return;
    s->id = ++j->sb->last_snapshot;
    s->machine = child;
    buf_printf(answer_begin(&j->call), "{\"id\":\"%" PRIu64 "\"}", s->id);
    answer_end(&j->call);
}

void
v86_do_snapshot_create(struct call *q)
{
    if (copies_find(v86_job_of(q)->sb, 0))
        copies_request(q, ZYGOTE_FORK_WAITING, copies_on_snapshot);
    else
        answer_error(q, SANDBOX_ERROR, "EAGAIN: more than %d snapshots",
                     V86_SNAPSHOTS_MAX);
}

void
v86_do_snapshot_restore(struct call *q)
{
    struct v86_snapshot *s = copies_named(q);

    if (!s)
        return;
    int r = v86_sandbox_reset(v86_job_of(q)->sb, s->machine.control);
    if (r < 0)
        answer_error(q, INTERNAL_ERROR, "no new machine: %s", strerror(-r));
    else
        answer_ok(q);
}

void
v86_do_snapshot_delete(struct call *q)
{
    struct v86_snapshot *s = copies_named(q);

    if (!s)
        return;
    zygote_kill(&s->machine);
    s->id = 0;
    answer_ok(q);
}

/* Ids grow, so the order of the ids is that of the snapshots' age. */
void
v86_do_snapshot_list(struct call *q)
{
    struct v86_sandbox *sb = v86_job_of(q)->sb;
    struct buf *b = answer_begin(q);

    buf_puts(b, "{\"snapshots\":[");
    for (uint64_t id = 1; id <= sb->last_snapshot; id++)
        if (copies_find(sb, id))
            buf_printf(b, "%s{\"id\":\"%" PRIu64 "\"}",
                       b->p[b->len - 1] == '[' ? "" : ",", id);
    buf_puts(b, "]}");
    answer_end(q);
}

/* The machine as a whole: create, reset, status, kill. */
#include "base/os_time.h"
#include "base/version.h"
#include "v86/job.h"
#include "v86/worker.h"

#include <string.h>

/* The machine exists already. Its size is an option of the program, and it has
 * nothing of the host. */
void
v86_do_create(struct call *q)
{
    struct v86_server *s = v86_server_of(q);

    if (s->saver.is_session) {
        v86_do_worker_create(q);
        return;
    }
    JSON_EACH_KEY(key, q->params) {
        struct text name = json_text(key);

        if (text_is(name, "timeoutMs"))
            continue;
        answer_error(q, SANDBOX_ERROR, "EPERM: not in mode v86: create with %s",
                     name.p);
        return;
    }
    if (s->is_created) {
        answer_error(q, INVALID_REQUEST, "Sandbox already created");
        return;
    }
    s->timeout_ms = param_int(q, "timeoutMs", s->timeout_ms);
    s->is_created = true;
    answer_ok(q);
}

/* Returns false after answering. */
static bool
state_reset(OWN struct call *q)
{
    struct v86_server *s = v86_server_of(q);
    int r = v86_worker_renew(s);

    if (r == 0)
        r = v86_sandbox_reset(v86_job_of(q)->sb, s->zygote.control);

    if (r == 0)
        return true;
    s->is_ending = true;
    answer_error(q, INTERNAL_ERROR, "no new machine: %s", strerror(-r));
    return false;
}

void
v86_do_reset(struct call *q)
{
    if (state_reset(q))
        answer_ok(q);
}

void
v86_do_line_reset(struct call *q)
{
    if (!state_reset(q))
        return;
    put_bool(answer_begin(q), "success", true);
    answer_end(q);
}

static uint64_t
state_uptime_ms(const struct v86_server *s)
{
    return (uint64_t)((time_mono_ns() - s->started_ns) / NS_PER_MS);
}

void
v86_do_status(struct call *q)
{
    const struct v86_server *s = v86_server_of(q);
    struct buf *b = answer_begin(q);

    buf_add(b, "{", 1);
    put_bool(b, "ready", s->is_created);
    put_name(b, "version");
    put_text(b, WSAND_VERSION);
    put_number(b, "uptimeMs", state_uptime_ms(s));
    put_number(b, "sandboxes", s->is_created + s->n_sandboxes);
    put_number(b, "memoryUsedBytes", v86_job_of(q)->sb->used_bytes);
    put_number(b, "memoryLimitBytes", s->ram_bytes);
    buf_add(b, "}", 1);
    answer_end(q);
}

void
v86_do_line_status(struct call *q)
{
    const struct v86_server *s = v86_server_of(q);
    struct buf *b = answer_begin(q);

    put_number(b, "uptime_ms", state_uptime_ms(s));
    put_number(b, "memory_used_bytes", v86_job_of(q)->sb->used_bytes);
    put_number(b, "memory_limit_bytes", s->ram_bytes);
    put_bool(b, "ready", true);
    answer_end(q);
}

void
v86_do_kill(struct call *q)
{
    v86_server_of(q)->is_ending = true;
    answer_ok(q);
}

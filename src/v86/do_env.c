/* env.*: variables of the guest's shell. Each request is a short script, of
 * which only the shell itself knows the answer. */
#include "v86/image/agent.h"
#include "v86/job.h"

#include <string.h>

/* Returns false after answering: the name would not be one for the shell. */
static bool
env_check_name(OWN struct call *q)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const char *name = param_text(q, "name");

    if (*name && strspn(name, letters) == strlen(name) &&
        !(*name >= '0' && *name <= '9'))
        return true;
    answer_error(q, SANDBOX_ERROR, "EINVAL: not a name of a variable: %.200s",
                 name);
    return false;
}

/* Runs the script; `finish` gets its status and has its output in j->out. */
static void
env_run(struct call *q, OWN struct buf *script,
        void (*on_message)(struct v86_job *j, uint32_t type, const uint8_t *p,
                           uint32_t len))
{
    struct v86_job *j = v86_job_of(q);

    j->on_message = on_message;
    j->on_death = v86_job_on_death;
    v86_run_script(q, script);
}

/* Keeps output, and returns true at the end of the script. */
static bool
env_has_ended(struct v86_job *j, uint32_t type, const uint8_t *p, uint32_t len,
              int *ret_status)
{
    if (type == AGENT_STDOUT)
        buf_add(&j->out, p, len);
    *ret_status = type == AGENT_EXIT ? v86_result(p, len) : 0;
    return type == AGENT_EXIT;
}

static void
env_on_done(struct v86_job *j, uint32_t type, const uint8_t *p, uint32_t len)
{
    int status;

    if (!env_has_ended(j, type, p, len, &status))
        return;
    if (status)
        answer_error(&j->call, SANDBOX_ERROR,
                     "EPERM: the shell refuses the variable");
    else
        answer_ok(&j->call);
}

void
v86_do_env_set(struct call *q)
{
    struct buf b;

    if (!env_check_name(q))
        return;
    buf_init(&b, SIZE_MAX);
    buf_puts(&b, "export ");
    buf_puts(&b, param_text(q, "name"));
    buf_puts(&b, "=");
    v86_put_quoted(&b, param_string(q, "value"));
    env_run(q, &b, env_on_done);
}

void
v86_do_env_unset(struct call *q)
{
    struct buf b;

    if (!env_check_name(q))
        return;
    buf_init(&b, SIZE_MAX);
    buf_puts(&b, "unset ");
    buf_puts(&b, param_text(q, "name"));
    env_run(q, &b, env_on_done);
}

static void
env_on_value(struct v86_job *j, uint32_t type, const uint8_t *p, uint32_t len)
{
    int status;

    if (!env_has_ended(j, type, p, len, &status))
        return;
    struct buf *b = answer_begin(&j->call);
    buf_puts(b, "{\"value\":");
    if (status)
        buf_puts(b, "null");
    else
        put_string(b, j->out.p, j->out.len);
    buf_puts(b, "}");
    answer_end(&j->call);
}

/* The status tells an empty variable from none. */
void
v86_do_env_get(struct call *q)
{
    const char *name = param_text(q, "name");
    struct buf b;

    if (!env_check_name(q))
        return;
    buf_init(&b, SIZE_MAX);
    buf_puts(&b, "[ \"${");
    buf_puts(&b, name);
    buf_puts(&b, "+x}\" ] && printf %s \"$");
    buf_puts(&b, name);
    buf_puts(&b, "\"");
    env_run(q, &b, env_on_value);
}

/* Writes NAME=VALUE texts, each ended by a NUL, as members of an object. */
static void
env_put_all(struct buf *b, const struct buf *list)
{
    for (size_t at = 0; at < list->len;) {
        const char *p = list->p + at;
        size_t len = strnlen(p, list->len - at);
        const char *equals = memchr(p, '=', len);

        at += len + 1;
        if (!equals)
            continue;
        if (b->p[b->len - 1] != '{')
            buf_add(b, ",", 1);
        put_string(b, p, (size_t)(equals - p));
        buf_add(b, ":", 1);
        put_string(b, equals + 1, len - (size_t)(equals + 1 - p));
    }
}

static void
env_on_list(struct v86_job *j, uint32_t type, const uint8_t *p, uint32_t len)
{
    int status;

    if (!env_has_ended(j, type, p, len, &status))
        return;
    struct buf *b = answer_begin(&j->call);
    buf_puts(b, "{\"env\":{");
    env_put_all(b, &j->out);
    buf_puts(b, "}}");
    answer_end(&j->call);
}

void
v86_do_env_list(struct call *q)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_puts(&b, "env -0");
    env_run(q, &b, env_on_list);
}

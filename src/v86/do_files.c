/* Files of the guest, in both protocols. */
#include "base/base64.h"
#include "base/parse.h"
#include "v86/image/agent.h"
#include "v86/job.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NEW_FILE_MODE = 0644, CONTENT_BYTES_MAX = 160 << 20 };

/* The texts are those of the other mode: small letters, and the path. */
void
v86_answer_errno(OWN struct call *q, int error, const char *path)
{
    const char *name = strerrorname_np(error);
    const char *text = strerror(error);

    answer_error(q, SANDBOX_ERROR, "%s: %c%s: %.200s", name ? name : "EIO",
                 tolower((unsigned char)text[0]), text + 1, path);
}

void
v86_job_on_death(struct v86_job *j, const char *why)
{
    answer_error(&j->call, SANDBOX_ERROR, "EIO: the machine has stopped: %s",
                 why);
}

int
v86_result(const uint8_t *p, uint32_t len)
{
    int32_t error = EIO;

    if (len == sizeof error)
        memcpy(&error, p, sizeof error);
    return error;
}

static void
files_put_success(struct buf *b)
{
    put_bool(b, "success", true);
    put_name(b, "error");
    buf_puts(b, "null");
}

/* --- reading */

static void
files_answer_line(OWN struct v86_job *j)
{
    struct call *q = &j->call;

    if (!v86_is_base64(q) && !text_is_utf8(j->out.p, j->out.len)) {
        answer_error(q, SANDBOX_ERROR,
                     "The file is not UTF-8 text: read it with "
                     "\"encoding\":\"base64\"");
        return;
    }
    struct buf *b = answer_begin(q);
    put_name(b, "content");
    if (v86_is_base64(q))
        put_base64(b, j->out.p, j->out.len);
    else
        put_string(b, j->out.p, j->out.len);
    files_put_success(b);
    answer_end(q);
}

static void
files_on_content(struct v86_job *j, uint32_t type, const uint8_t *p,
                 uint32_t len)
{
    if (type == AGENT_CONTENT)
        buf_add(&j->out, p, len);
    if (type != AGENT_RESULT)
        return;

    int error = v86_result(p, len);
    if (error == 0 && j->out.error)
        error = -j->out.error;
    if (error)
        v86_answer_errno(&j->call, error, param_text(&j->call, "path"));
    else if (call_is_line(&j->call))
        files_answer_line(j);
    else
        answer_data(&j->call, j->out.p, j->out.len);
}

/* `part` NULL: the whole file. */
static void
files_read(struct call *q, const struct agent_part *part)
{
    struct v86_job *j = v86_job_of(q);
    const char *path = param_text(q, "path");

    buf_init(&j->out, CONTENT_BYTES_MAX);
    j->on_message = files_on_content;
    j->on_death = v86_job_on_death;
    v86_sandbox_send(j->sb, part ? AGENT_READ_PART : AGENT_READ, part,
                     part ? sizeof *part : 0, path, strlen(path));
}

void
v86_do_files_read(struct call *q)
{
    struct agent_part part = {.offset = (uint64_t)param_int(q, "offset", 0),
                              .len =
                                  (uint64_t)param_int(q, "length", INT64_MAX)};

    files_read(q, param(q, "offset") || param(q, "length") ? &part : NULL);
}

void
v86_do_line_read(struct call *q)
{
    if (call_has_absolute_path(q))
        files_read(q, NULL);
}

/* --- writing */

static void
files_on_written(struct v86_job *j, uint32_t type, const uint8_t *p,
                 uint32_t len)
{
    struct call *q = &j->call;

    if (type != AGENT_RESULT)
        return;

    int error = v86_result(p, len);
    if (error) {
        v86_answer_errno(q, error, param_text(q, "path"));
    } else if (call_is_line(q)) {
        files_put_success(answer_begin(q));
        answer_end(q);
    } else {
        answer_ok(q);
    }
}

/* The agent answers twice: when the file is open, and when it is closed. A file
 * that cannot be opened is the answer; the second one then has the same
 * error. */
static void
files_on_opened(struct v86_job *j, uint32_t type, const uint8_t *p,
                uint32_t len)
{
    (void)p;
    (void)len;
    if (type == AGENT_RESULT)
        j->on_message = files_on_written;
}

static void
files_send(struct v86_job *j, struct text content)
{
    struct v86_sandbox *sb = j->sb;

    j->on_message = files_on_opened;
    j->on_death = v86_job_on_death;
    for (size_t at = 0, n; at < content.len; at += n) {
        n = content.len - at < AGENT_DATA_MAX ? content.len - at
                                              : AGENT_DATA_MAX;
        v86_sandbox_send(sb, AGENT_DATA, NULL, 0, content.p + at, n);
    }
    v86_sandbox_send(sb, AGENT_CLOSE, NULL, 0, NULL, 0);
}

struct text
v86_decode(struct v86_job *j, const char *name)
{
    struct text t = param_string(&j->call, name);

    j->owned = malloc(BASE64_BYTES(t.len) + 1);
    if (!j->owned || base64_decode(t.p, t.len, j->owned, &t.len) < 0) {
        answer_error(&j->call, INVALID_PARAMS, "%s is not base64", name);
        return (struct text){0};
    }
    t.p = j->owned;
    return t;
}

uint32_t
v86_mode(const struct call *q, uint32_t absent)
{
    const struct json *v = param(q, "mode");
    uint32_t mode = absent;

    if (!json_is(v, JSON_STRING))
        return (uint32_t)param_int(q, "mode", absent);
    (void)mode_parse(json_text(v).p, &mode);
    return mode;
}

void
v86_do_line_write(struct call *q)
{
    struct text content = param_string(q, "content");
    uint32_t mode = v86_mode(q, NEW_FILE_MODE);
    const char *path = param_text(q, "path");

    if (!call_has_absolute_path(q))
        return;
    if (v86_is_base64(q))
        content = v86_decode(v86_job_of(q), "content");
    if (!content.p)
        return;
    v86_sandbox_send(v86_job_of(q)->sb, AGENT_WRITE, &mode, sizeof mode, path,
                     strlen(path));
    files_send(v86_job_of(q), content);
}

static uint32_t
files_write_flags(const struct call *q)
{
    return v86_mode(q, NEW_FILE_MODE) |
           (param(q, "mode") ? AGENT_HAS_MODE : 0) |
           (param_bool(q, "append", false) ? AGENT_APPEND : 0) |
           (param_bool(q, "parents", false) ? AGENT_PARENTS : 0) |
           (param(q, "offset") ? AGENT_AT : 0);
}

void
v86_do_files_write(struct call *q)
{
    struct v86_job *j = v86_job_of(q);
    const char *path = param_text(q, "path");
    struct agent_part part = {.offset = (uint64_t)param_int(q, "offset", 0),
                              .flags = files_write_flags(q)};
    struct text data = v86_decode(j, "data");

    if (!data.p)
        return;
    v86_sandbox_send(j->sb, AGENT_WRITE_PART, &part, sizeof part, path,
                     strlen(path));
    files_send(j, data);
}

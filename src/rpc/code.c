/* The process of a context, and its frames.
 *
 * Problem: the results of a cell come from code that nobody trusts, on the
 * thread that runs the sandbox.
 *
 * Idea: descriptor 3 of the process carries frames, a length and as many bytes
 * of JSON. Frames are collected up to a maximum and parsed like a request.
 * Anything else on that descriptor ends the process. The values are written
 * again as JSON, so that an answer is valid whatever a guest sends. */
#include "rpc/code.h"

#include "base/exit.h"
#include "base/json.h"
#include "rpc/report.h"
#include "rpc/values.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "exec python3 -m wasmsand.runner"

/* The maximum of one result, and of the digits of its length. */
enum { FRAME_BYTES_MAX = 8 << 20, DIGITS = 8 };

/* --- the end of a cell */

/* The loop answers, because a worker commits first. */
void
code_finish(struct code_context *c)
{
    bool was_over = c->is_over;

    c->is_over = c->q;
    if (!c->q || was_over || c->is_beginning)
        return;
    c->work.run = code_answer;
    list_push_back(&c->slot->srv->posted, &c->work.link);
}

/* Wakes the loop for code_finish. */
static void
code_unlock(struct code_context *c)
{
    bool is_over = c->is_over;

    pthread_mutex_unlock(&c->slot->srv->lock);
    if (is_over)
        loop_wake(c->slot->srv);
}

void
code_reset(struct code_context *c)
{
    buf_fini(&c->out);
    buf_fini(&c->err);
    buf_fini(&c->results);
    buf_fini(&c->error);
}

/* --- frames */

/* Adds a result to the list. Results beyond the maximum are left out, which the
 * answer reports by their missing. */
static void
code_add_result(struct code_context *c, const struct json *frame)
{
    struct buf *b = &c->results;
    size_t before = b->len;

    buf_puts(b, b->len ? ",{\"data\":" : "{\"data\":");
    json_put(b, json_get(frame, "data"));
    put_bool(b, "isMain", json_is(json_get(frame, "isMain"), JSON_TRUE));
    buf_puts(b, "}");
    if (!b->error)
        return;
    b->error = 0;
    b->len = before;
}

/* False: this is no frame of the runner. */
static bool
code_take_message(struct code_context *c, const struct json *frame)
{
    const struct text type = json_text(json_get(frame, "type"));
    const struct json *error = json_get(frame, "error");

    if (!c->q || c->is_over)
        return true; /* between two cells */
    if (text_is(type, "result") &&
        json_is(json_get(frame, "data"), JSON_OBJECT)) {
        code_add_result(c, frame);
        return true;
    }
    if (!text_is(type, "done"))
        return false;
    c->count = json_integer(json_get(frame, "count"));
    if (json_is(error, JSON_OBJECT))
        json_put(&c->error, error);
    code_finish(c);
    return true;
}

/* Returns the length of the first frame with its head, 0 if it is incomplete,
 * or -EBADMSG. */
static int64_t
code_frame_length(const struct buf *b, size_t *ret_head)
{
    size_t digits = 0;
    uint64_t len;

    while (digits < b->len && b->p[digits] >= '0' && b->p[digits] <= '9')
        digits++;
    if (digits == b->len && digits < DIGITS)
        return 0;
    if (digits == b->len || b->p[digits] != '\n' ||
        !text_number((struct text){b->p, digits}, &len) ||
        len > FRAME_BYTES_MAX)
        return -EBADMSG;
    *ret_head = digits + 1;
    return b->len < *ret_head + len ? 0 : (int64_t)(*ret_head + len);
}

/* Takes one frame. Returns 1, 0 if there is none, or -EBADMSG. */
static int
code_take_frame(struct code_context *c)
{
    CLEANUP(json_fini) struct json_doc doc = {0};
    struct json_fault fault;
    struct buf *b = &c->frame;
    size_t head = 0;

    int64_t n = b->len ? code_frame_length(b, &head) : 0;
    if (n <= 0)
        return (int)n;
    if (json_read_copy(&doc, b->p + head, (size_t)n - head, &fault) < 0 ||
        !code_take_message(c, doc.v))
        return -EBADMSG;
    b->len -= (size_t)n;
    memmove(b->p, b->p + n, b->len);
    return 1;
}

/* False: the process sends something else, and is not our runner any more. */
static bool
code_take_frames(struct code_context *c, const void *data, size_t len)
{
    int r = 1;

    buf_add(&c->frame, data, len);
    while (r > 0)
        r = c->frame.error ? -EBADMSG : code_take_frame(c);
    if (r < 0)
        buf_fini(&c->frame);
    return r == 0;
}

/* Output between two cells, of a thread or a child, belongs to none and is
 * dropped. */
static void
code_take_output(struct code_context *c, int stream, const void *data,
                 size_t len)
{
    struct buf *b = stream == 1 ? &c->out : &c->err;
    size_t room = b->max - b->len;

    if (!c->q || c->is_over)
        return;
    buf_add(b, data, len < room ? len : room);
    if (len > room)
        b->error = -EFBIG;
    if (c->is_streamed)
        stream_on_output(&c->stream, stream, data, len);
}

/* --- call-backs of the library */

/* A process that was dropped may still write. The lock is held while output is
 * sent, so that the call is not answered meanwhile. */
static void
code_on_output(void *arg, uint64_t id, int stream, const void *data, size_t len)
{
    struct code_context *c = arg;

    bool is_fine = true;

    pthread_mutex_lock(&c->slot->srv->lock);
    if (id == c->process && stream == 3)
        is_fine = code_take_frames(c, data, len);
    else if (id == c->process)
        code_take_output(c, stream, data, len);
    code_unlock(c);
    if (!is_fine)
        code_signal(c, SIGKILL);
}

/* Set the flag before testing the condition; otherwise a change in between
 * would not wake us. */
static bool
code_has_room(void *arg)
{
    struct code_context *c = arg;
    struct server *srv = c->slot->srv;

    if (!writer_is_behind(&srv->out))
        return true;
    c->is_stalled = true;
    srv->has_stalled = true;
    return !writer_is_behind(&srv->out);
}

static void
code_on_start(void *arg, uint64_t id)
{
    struct code_context *c = arg;

    pthread_mutex_lock(&c->slot->srv->lock);
    c->process = id;
    c->count = 0;
    pthread_mutex_unlock(&c->slot->srv->lock);
}

/* A cell that runs ends with its process. With the lock held. */
static void
code_end_process(struct code_context *c, int exit_code)
{
    c->process = 0;
    buf_fini(&c->frame);
    if (c->q && !c->is_over) {
        c->has_ended = true;
        c->exit_code = exit_code;
    }
    code_finish(c);
}

/* The next cell says that it has a new process, if the old one ended by
 * itself. */
static void
code_on_exit(void *arg, uint64_t id, int exit_code)
{
    struct code_context *c = arg;

    pthread_mutex_lock(&c->slot->srv->lock);
    if (id == c->process) {
        c->was_lost = true;
        code_end_process(c, exit_code);
    }
    code_unlock(c);
}

/* --- running */

/* Returns the id of the process, or 0. */
static uint64_t
code_process(struct code_context *c)
{
    pthread_mutex_lock(&c->slot->srv->lock);
    uint64_t id = c->process;
    pthread_mutex_unlock(&c->slot->srv->lock);
    return id;
}

void
code_signal(struct code_context *c, int sig)
{
    uint64_t id = code_process(c);

    if (id && c->slot->sb)
        (void)wsand_process_kill(c->slot->sb, id, sig, NULL);
}

void
code_drop_process(struct code_context *c)
{
    pthread_mutex_lock(&c->slot->srv->lock);
    uint64_t id = c->process;
    code_end_process(c, EXIT_SIGNAL + SIGKILL);
    code_unlock(c);
    if (id && c->slot->sb)
        (void)wsand_process_kill(c->slot->sb, id, SIGKILL, NULL);
}

static int
code_start(struct code_context *c, struct wsand_sandbox *sb,
           struct wsand_error *err)
{
    const struct wsand_process_options o = {.size = sizeof o,
                                            .command = COMMAND,
                                            .cwd = c->cwd,
                                            .env = (const char *const *)c->env,
                                            .on_output = code_on_output,
                                            .on_exit = code_on_exit,
                                            .on_start = code_on_start,
                                            .has_room = code_has_room,
                                            .has_results = true,
                                            .arg = c};
    uint64_t id;

    buf_init(&c->frame, FRAME_BYTES_MAX + DIGITS);
    return wsand_process_start(sb, &o, &id, err);
}

/* Sends the cell as a frame. */
static int
code_send(struct code_context *c, struct wsand_sandbox *sb, struct text code,
          struct wsand_error *err)
{
    CLEANUP(buf_fini) struct buf frame;
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_init(&frame, SIZE_MAX);
    buf_puts(&b, "{\"code\":");
    put_string(&b, code.p, code.len);
    buf_puts(&b, "}");
    buf_printf(&frame, "%zu\n", b.len);
    buf_add(&frame, b.p, b.len);
    if (b.error || frame.error)
        return report_fail(err, ENOMEM, "out of memory");
    return wsand_process_write(sb, code_process(c), frame.p, frame.len, err);
}

int
code_begin(struct code_context *c, const struct call *q,
           struct wsand_error *err)
{
    struct wsand_sandbox *sb = sandbox_of(q);
    struct text code = param_string(q, "code");
    int r = 0;

    if (!code_process(c)) {
        c->is_restarted = c->was_lost;
        c->was_lost = false;
        r = code_start(c, sb, err);
    }
    return r < 0 ? r : code_send(c, sb, code, err);
}

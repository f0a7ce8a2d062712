/* Commands of the resident shell: standard streams, running to the end, and the
 * library's own questions to the shell. */
#include "lib/command.h"

#include "base/os_time.h"
#include "kernel/capture.h"
#include "kernel/kernel.h"
#include "lib/error.h"
#include "lib/sandbox.h"
#include "lib/shell.h"
#include "lib/shell_files.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Limits of the library's questions: the reply, the text of the question, and
 * its time. */
enum { ASK_BYTES_MAX = 16 << 20, SCRIPT_BYTES_MAX = 64 << 20 };
#define ASK_NS (5 * NS_PER_S)

/* --- standard input and output */

static void
command_tell_out(void *arg, const char *p, size_t len)
{
    const struct command *c = arg;

    c->on_output(c->on_output_arg, 1, p, len);
}

static void
command_tell_err(void *arg, const char *p, size_t len)
{
    const struct command *c = arg;

    c->on_output(c->on_output_arg, 2, p, len);
}

static size_t
command_ask_window(void *arg)
{
    const struct command *c = arg;

    return c->window(c->on_output_arg);
}

/* Both streams report their output, and share the caller's window. */
static void
command_watch_output(const struct command *c, const struct streams *s)
{
    s->out->on_bytes = command_tell_out;
    s->err->on_bytes = command_tell_err;
    s->out->arg = s->err->arg = (void *)c;
    s->out->window = s->err->window = c->window ? command_ask_window : NULL;
}

/* --- running */

/* The argument of command_is_over. */
struct running_command {
    struct shell *sh;
    const struct command *c;
    struct command_outcome *o;
};

static void
command_kill_run(struct kernel *k)
{
    kernel_kill(k, k->run_tag, SIGKILL);
}

/* Asked by the kernel between time slices. The command is over when the shell
 * is parked in sys.next. A killed shell is over only when its thread is gone,
 * because the machine must be free before a roll-back. */
static bool
command_is_over(void *arg)
{
    struct running_command *run = arg;
    const struct resident *res = run->sh->res;
    struct wsand_sandbox *sb = run->sh->sb;
    struct kernel *k = sb->kernel;

    if (!run->c->is_ours)
        sandbox_send_pending(sb);
    if (!run->o->cancelled &&
        (run->c->is_ours ? sandbox_is_closed(sb) : sandbox_is_cancelled(sb))) {
        run->o->cancelled = true;
        command_kill_run(k);
    }
    return res->is_parked && (!res->is_dead || !res->task->thread);
}

/* The checkpoint is made before the command, unless it was made after the last
 * one already. A command that continues another shares its checkpoint, so that
 * both are undone together.
 *
 * After a time-out, all processes of the run are killed, and the kernel runs on
 * until the shell is parked again; that takes no time of the guest's. */
int
command_run(struct shell *sh, const struct command *c,
            struct command_outcome *ret)
{
    struct running_command run = {sh, c, ret};
    struct kernel *k = sh->sb->kernel;
    struct streams *io = &sh->streams;
    int64_t deadline = c->deadline_ns;

    *ret = (struct command_outcome){0};
    int r = c->continues || sh->is_clean ? 0 : shell_checkpoint(sh);
    if (r == 0 && sh->res->is_dead)
        r = shell_thaw(sh);
    if (r == 0)
        r = streams_open(io, sh->res->task, &c->io);
    if (r < 0)
        return r;
    if (c->on_output)
        command_watch_output(c, io);
    if (sh->n_closed && !c->is_ours)
        shell_files_report(sh, c->io.merge ? io->out : io->err);
    kernel_begin_run(k);
    sh->res->task->run_tag = k->run_tag;
    sh->is_clean = false;
    sh->is_running = true;
    resident_run(sh->res, c->text, c->len, !c->is_ours);
    if (deadline != NS_NEVER)
        deadline -= k->clock.boot_ns;
    if (kernel_run(k, command_is_over, &run, deadline) == -ETIMEDOUT) {
        ret->timed_out = true;
        command_kill_run(k);
        (void)kernel_run(k, command_is_over, &run, NS_NEVER);
    }
    sh->is_running = false;
    sh->res->task->run_tag = 0;
    kernel_end_run(k);
    ret->status = sh->res->status;
    if (sh->res->is_dead) {
        signals_drop(sh->res->task); /* they were for the killed machine */
        shell_roll_back(sh);
    } else {
        sh->status = ret->status;
    }
    return 0;
}

/* --- our own commands */

bool
command_is_variable_name(const char *s, size_t len)
{
    if (!len || isdigit((unsigned char)*s))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isascii((unsigned char)s[i]) ||
            (!isalnum((unsigned char)s[i]) && s[i] != '_'))
            return false;
    return true;
}

/* Single quotes protect everything but themselves: a quote inside ends the
 * string, adds an escaped quote, and begins the string again. */
void
command_quote(struct buf *b, const char *s)
{
    buf_puts(b, "'");
    for (;;) {
        size_t n = strcspn(s, "'");
        buf_add(b, s, n);
        s += n;
        if (!*s)
            break;
        buf_puts(b, "'\\''");
        s++;
    }
    buf_puts(b, "'");
}

/* Returns the bytes after the first NUL, with a NUL after them. Output before
 * it comes from traps or debugging options of the user. */
static int
command_take_reply(const struct capture *out, const struct command_outcome *o,
                   OWN char **ret, size_t *ret_len)
{
    const char *nul = out->len ? memchr(out->data, 0, out->len) : NULL;

    *ret = NULL;
    *ret_len = 0;
    if (o->timed_out || o->cancelled)
        return o->cancelled ? -ECANCELED : -ETIMEDOUT;
    if (out->dropped)
        return -E2BIG;
    if (!nul)
        return 0;
    size_t len = (size_t)(out->data + out->len - nul - 1);
    *ret = malloc(len + 1);
    if (!*ret)
        return -ENOMEM;
    memcpy(*ret, nul + 1, len);
    (*ret)[len] = 0;
    *ret_len = len;
    return 0;
}

void
command_body_init(struct buf *b)
{
    buf_init(b, SCRIPT_BYTES_MAX);
}

/* Wraps the body into a function that removes itself.
 *
 * `builtin` with a backslash cannot be replaced by an alias or a function. The
 * call stands in a list with &&, so a failing function is not a failure for
 * `set -e`. The function returns the user's $?, and its argument restores $_,
 * which is the last argument of the previous command. */
static void
command_wrap(struct buf *b, const char *top, const struct buf *body, int status)
{
    command_body_init(b);
    buf_puts(b, top);
    buf_puts(b, "__wsand() {\n\\builtin unset -f __wsand\n");
    buf_add(b, body->p, body->len);
    buf_printf(b, "\n\\builtin return %d\n}\n", status);
    buf_puts(b, "__wsand \"${_-}\" && \\: \"${_-}\"\n");
}

int
shell_ask_error(struct wsand_error *err, int r)
{
    r = error_errno(err, -r, "cannot ask the shell");
    return r == -ETIMEDOUT ? error_of_class(err, WSAND_TIMEOUT, r) : r;
}

/* Questions have a time limit, because a guest can manipulate its shell.
 * Signals and cancellations of the user do not concern them. */
static int
command_ask(struct shell *sh, const char *top, const struct buf *body,
            bool continues, OWN char **ret, size_t *ret_len)
{
    CLEANUP(buf_fini) struct buf b;
    struct command_outcome o = {0};

    command_wrap(&b, top, body, sh->status);
    int e = body->error ? body->error : b.error;
    if (e)
        return e == -EFBIG ? -E2BIG : e;
    struct command c = {.text = b.p,
                        .len = b.len,
                        .io.out_max = ASK_BYTES_MAX,
                        .deadline_ns = time_mono_ns() + ASK_NS,
                        .is_ours = true,
                        .continues = continues};
    int r = command_run(sh, &c, &o);
    if (r < 0)
        return r;
    r = command_take_reply(sh->streams.out, &o, ret, ret_len);
    command_close(sh);
    return r;
}

int
shell_ask(struct shell *sh, const struct buf *body, bool continues,
          OWN char **ret, size_t *ret_len)
{
    return command_ask(sh, "", body, continues, ret, ret_len);
}

/* A question must not change the shell. Restoring the checkpoint is simpler
 * than avoiding every side effect. If the command was killed, the roll-back has
 * happened already. */
int
shell_query(struct shell *sh, const char *top, const struct buf *body,
            OWN char **ret, size_t *ret_len)
{
    int r = command_ask(sh, top, body, false, ret, ret_len);

    if (!sh->is_clean)
        shell_undo(sh);
    return r;
}

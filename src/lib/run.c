/* wsand_run: one command of the user in the resident shell, with its own
 * folder, variables and limits.
 *
 * The result tells how the command ended: by itself, by the time limit (124) or
 * cancelled (130). A limit of the sandbox that was hit is named if the command
 * failed. */
#include "base/os_time.h"
#include "kernel/capture.h"
#include "kernel/kernel.h"
#include "lib/command.h"
#include "lib/env.h"
#include "lib/error.h"
#include "lib/history.h"
#include "lib/network.h"
#include "lib/sandbox.h"
#include "lib/shell.h"
#include "lib/sized.h"
#include "lib/trace.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Exit codes are those of timeout(1) and of a shell command that ^C has ended.
 * GAP_LINE_BYTES is the space for the line about omitted output. */
enum {
    EXIT_TIMED_OUT = 124,
    EXIT_CANCELLED = 130,
    GAP_LINE_BYTES = 48,
    GAP_LIMIT_MIN = 256, /* of output that has such a line */
};

/* --- results */

/* Returns the length without an incomplete UTF-8 character at the end. The
 * limit of output may have cut one. */
static size_t
run_whole_characters(const char *s, size_t len)
{
    size_t at = len, most = len < 4 ? 0 : len - 4;

    while (at > most && (s[at - 1] & 0xc0) == 0x80)
        at--;
    if (at == 0)
        return len;
    unsigned char lead = (unsigned char)s[at - 1];
    size_t need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    return len - (at - 1) < need ? at - 1 : len;
}

/* Returns the start of the first complete character, if the first may have been
 * cut. */
static size_t
run_first_character(const char *s, size_t len)
{
    size_t at = 0;

    while (at < len && at < 3 && (s[at] & 0xc0) == 0x80)
        at++;
    return at;
}

/* Replaces the gap between the two ends of the data by a line with the number
 * of missing bytes, or by nothing. The line takes its space from the second
 * end, so that the result still fits the limit. */
static void
run_join_ends(char *data, size_t *len, size_t head, bool has_line,
              uint64_t *dropped)
{
    char line[GAP_LINE_BYTES];
    int n = 0;
    size_t first = run_whole_characters(data, head);
    size_t second = head + (has_line ? sizeof line : 0);

    second += run_first_character(data + second, *len - second);
    *dropped += second - first;
    if (has_line)
        n = snprintf(line, sizeof line, "%s[%llu bytes omitted]\n",
                     data[first - 1] == '\n' ? "" : "\n",
                     (unsigned long long)*dropped);
    memcpy(data + first, line, (size_t)n);
    first += (size_t)n;
    memmove(data + first, data + second, *len - second);
    *len = first + (*len - second);
}

/* Output beyond the limit is cut at a whole character, so that the result is
 * valid UTF-8 if the output was. */
static void
run_cut_output(const struct capture *c, bool has_line, char *data, size_t *len,
               uint64_t *dropped)
{
    size_t whole;

    if (c->head && *len == c->max) {
        run_join_ends(data, len, c->head, has_line && c->max >= GAP_LIMIT_MIN,
                      dropped);
        return;
    }
    whole = run_whole_characters(data, *len);
    *dropped += *len - whole;
    *len = whole;
}

/* Returns the limit that explains a failure best, if several were hit. */
static const char *
run_limit_hit(const struct limits *l)
{
    static const enum limit_id ids[] = {
        LIMIT_cpu,        LIMIT_memory,      LIMIT_processes,   LIMIT_files,
        LIMIT_file_bytes, LIMIT_mount_files, LIMIT_mount_bytes, LIMIT_fds,
        LIMIT_open_files, LIMIT_mappings,    LIMIT_locks,       LIMIT_sigqueue};

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (l->was_hit[ids[i]])
            return limit_info(ids[i])->name;
    return NULL;
}

/* A time limit overrides a cancellation. A limit is reported only for a command
 * that failed: many programs hit one and recover. Background output is
 * everything that processes of earlier commands have written since the last
 * command. */
static void
run_fill_result(struct shell *sh, const struct wsand_run *run,
                const struct command_outcome *o, struct wsand_output *ret)
{
    bool has_line = !run->is_unmarked;
    const struct kernel *k = sh->sb->kernel;
    const struct streams *io = &sh->streams;

    ret->exit_code = o->status;
    ret->timed_out = o->timed_out;
    ret->cancelled = o->cancelled && !o->timed_out;
    if (ret->timed_out) {
        ret->exit_code = EXIT_TIMED_OUT;
        ret->error_class = WSAND_TIMEOUT;
    } else if (ret->cancelled) {
        ret->exit_code = EXIT_CANCELLED;
        ret->error_class = WSAND_CANCELLED;
    } else if (o->status) {
        ret->limit = run_limit_hit(&k->limits);
        ret->error_class = ret->limit      ? WSAND_LIMIT_EXCEEDED
                           : k->was_denied ? WSAND_CAPABILITY_DENIED
                                           : WSAND_CLASS_NONE;
    }
    ret->cpu_ms = (uint64_t)(k->cpu_ns - k->run_cpu_ns) / NS_PER_MS;
    ret->max_memory_bytes = k->limits.peak[LIMIT_memory];
    ret->out = capture_take(io->out, &ret->out_len);
    ret->err = capture_take(io->err, &ret->err_len);
    ret->background = capture_take(sh->background, &ret->background_len);
    ret->out_dropped = io->out->dropped;
    ret->err_dropped = io->err->dropped;
    if (ret->out_dropped && ret->out_len)
        run_cut_output(io->out, has_line, ret->out, &ret->out_len,
                       &ret->out_dropped);
    if (ret->err_dropped && ret->err_len)
        run_cut_output(io->err, has_line, ret->err, &ret->err_len,
                       &ret->err_dropped);
    if (k->denials)
        network_fill_denied(sh->sb, ret);
}

/* Adds a line of our own to the command's standard error, regardless of its
 * limit. */
static void
run_say(const struct wsand_run *run, struct wsand_output *o, const char *line)
{
    char **to = run->merge_stderr ? &o->out : &o->err;
    size_t *len = run->merge_stderr ? &o->out_len : &o->err_len;
    size_t n = strlen(line);

    char *p = realloc(*to, *len + n + 1);
    if (!p)
        return;
    memcpy(p + *len, line, n + 1);
    *to = p;
    *len += n;
    if (run->on_output)
        run->on_output(run->on_output_arg, run->merge_stderr ? 1 : 2, line, n);
}

/* --- running */

/* The trace of the last system calls is only returned for a command that
 * failed. */
static int
run_command(struct shell *sh, const struct wsand_run *run, bool continues,
            struct wsand_output *ret, struct wsand_error *err)
{
    const uint64_t *max = sh->sb->kernel->limits.max;
    struct command c = {.text = run->command,
                        .len = run->command_len,
                        .io = {.input = run->input,
                               .input_len = run->input_len,
                               .out_max = run->stdout_bytes ? run->stdout_bytes
                                                            : max[LIMIT_stdout],
                               .err_max = run->stderr_bytes ? run->stderr_bytes
                                                            : max[LIMIT_stderr],
                               .keep_ends = run->keep_ends,
                               .merge = run->merge_stderr},
                        .on_output = run->on_output,
                        .window = run->window,
                        .on_output_arg = run->on_output_arg,
                        .deadline_ns = sh->sb->run_deadline_ns,
                        .continues = continues};
    struct command_outcome o = {0};
    CLEANUP(trace_freep) struct trace *trace = NULL;

    int r = run->trace ? trace_new(sh->sb->kernel, &trace) : 0;
    if (r == 0)
        r = command_run(sh, &c, &o);
    if (r != 0)
        return error_errno(err, -r, "cannot run a command");
    run_fill_result(sh, run, &o, ret);
    if (trace && ret->exit_code)
        ret->trace = trace_take(trace, &ret->trace_len);
    command_close(sh);
    return 0;
}

/* A command with a folder or variables of its own continues the one that sets
 * them. */
static int
run_borrowing(struct shell *sh, const struct wsand_run *run,
              struct wsand_output *ret, struct wsand_error *err)
{
    struct borrowed b = {0};

    int r = borrow(sh, run->cwd, run->env, &b, err);
    if (r < 0)
        return r;
    r = run_command(sh, run, true, ret, err);
    borrow_give_back(sh, &b, r < 0);
    return r;
}

/* A command that is too long is answered as if it had failed. */
static void
run_refuse(const struct wsand_run *run, uint64_t max, struct wsand_output *ret)
{
    char line[80];

    *ret = (struct wsand_output){.size = sizeof *ret};
    ret->exit_code = 1;
    ret->error_class = WSAND_LIMIT_EXCEEDED;
    ret->limit = limit_info(LIMIT_command)->name;
    (void)snprintf(line, sizeof line,
                   "command too long (%zu bytes, limit: %llu)\n",
                   run->command_len, (unsigned long long)max);
    run_say(run, ret, line);
}

/* --- callers of another version */

/* Members of the result that the caller must free. A caller with an older
 * header does not know all of them, and wsand_run frees the others. */
static const size_t owned[] = {offsetof(struct wsand_output, out),
                               offsetof(struct wsand_output, err),
                               offsetof(struct wsand_output, background),
                               offsetof(struct wsand_output, trace),
                               offsetof(struct wsand_output, denied)};

/* Frees the members whose pointers lie between two offsets in *out. */
static void
run_free_owned(struct wsand_output *out, size_t from, size_t to)
{
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        if (owned[i] + sizeof(char *) > from && owned[i] + sizeof(char *) <= to)
            free(*(char **)((char *)out + owned[i]));
}

/* The sizes of both structures are checked before anything runs. Results that
 * an older caller does not know are freed here. */
static int
run_for_version(struct wsand_sandbox *sb, const struct wsand_run *run,
                struct wsand_output *ret, struct wsand_error *err)
{
    struct wsand_output out = {.size = sizeof out};
    struct wsand_run copy;

    int r = sized_check(ret, "wsand_output", err);
    if (r == 0)
        r = SIZED_TAKE(&copy, run, "wsand_run", err);
    if (r == 0)
        r = wsand_run(sb, &copy, &out, err);
    if (r < 0)
        return r;
    sized_give(ret, &out, sizeof out);
    if (ret->size < sizeof out)
        run_free_owned(&out, ret->size, sizeof out);
    return 0;
}

/* --- the public functions */

/* Waiting for the lease does not count as time of the command. The first
 * command of a sandbox begins its shell. A command that the history cannot hold
 * is not in it. */
int
wsand_run(struct wsand_sandbox *sb, const struct wsand_run *run,
          struct wsand_output *ret, struct wsand_error *err)
{
    if (run->size != sizeof *run || ret->size != sizeof *ret)
        return run_for_version(sb, run, ret, err);
    SANDBOX_LEASE(sb, err);
    struct wsand_output out = {.size = sizeof out};
    int64_t began = time_mono_ns();
    struct shell *sh = sb->shell;

    if (run->command_len > sb->kernel->limits.max[LIMIT_command]) {
        run_refuse(run, sb->kernel->limits.max[LIMIT_command], ret);
        return 0;
    }
    int r = sh && sh->has_env ? 0 : shell_begin(sb, &sh);
    if (r == -ENOEXEC)
        return error_set(err, ENOEXEC,
                         "there is no " SHELL_PATH " that can be run");
    if (r < 0)
        return error_errno(err, -r, "cannot run a command");
    sb->run_deadline_ns = time_deadline_ns(began, run->timeout_ms);
    r = run->cwd || run->env ? run_borrowing(sh, run, &out, err)
                             : run_command(sh, run, false, &out, err);
    sb->run_deadline_ns = NS_NEVER;
    if (r < 0)
        return r;
    (void)history_add(&sb->history, run->command, run->command_len);
    out.time_us = (uint64_t)(time_mono_ns() - began) / 1000;
    if (out.timed_out) {
        out.time_us = run->timeout_ms * 1000;
        run_say(run, &out, "command timed out\n");
    }
    *ret = out;
    return 0;
}

void
wsand_output_free(struct wsand_output *out)
{
    size_t size = out->size;

    run_free_owned(out, 0, size);
    memset(out, 0, size);
    out->size = size;
}

void
wsand_cancel(struct wsand_sandbox *sb)
{
    atomic_store(&sb->is_cancelled, true);
    kernel_kick(sb->kernel);
}

/* The caller's window was 0 and has opened again. Both streams are woken,
 * because they share the window. Without a command in progress, the message
 * came too late and means nothing. */
static void
run_deliver_resume(struct wsand_sandbox *sb, OWN struct mail *m)
{
    if (sb->shell && sb->shell->is_running) {
        capture_wake(sb->shell->streams.out);
        capture_wake(sb->shell->streams.err);
    }
    free(m);
}

/* A writer that waits for the caller's window is woken on the sandbox's
 * thread. */
int
wsand_run_resume(struct wsand_sandbox *sb, struct wsand_error *err)
{
    struct mail *m = calloc(1, sizeof *m);

    if (!m)
        return error_set(err, ENOMEM, "out of memory");
    m->deliver = run_deliver_resume;
    mail_send(sb, m);
    return 0;
}

/* Relaxed loads are enough: the flag is checked again between all time slices,
 * and the kick makes that happen soon. */
bool
sandbox_is_cancelled(const struct wsand_sandbox *sb)
{
    return atomic_load_explicit(&sb->is_cancelled, memory_order_relaxed) ||
           sandbox_is_closed(sb);
}

bool
sandbox_is_closed(const struct wsand_sandbox *sb)
{
    return atomic_load_explicit(&sb->lease.is_closed, memory_order_relaxed);
}

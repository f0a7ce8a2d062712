/* wasm-sandbox shell --resident: one command a line on standard input, for
 * tests and measurements. The answer to each:
 *
 *   status STATUS STDOUT-BYTES STDERR-BYTES BACKGROUND-BYTES MICROSECONDS
 *   the three texts, one after the other, and a newline
 *
 * "\n" in a line stands for a newline, "\\" for a backslash. A line that begins
 * with ":fork" makes a copy of the sandbox and goes on in it, ":back" returns
 * to the one before; ":timeout MS" limits the following commands. */
#include "cli/cli.h"
#include "cli/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SANDBOXES_MAX = 64 };

/* The sandboxes that :fork created, each a copy of the one below it. Commands
 * run in the one at `depth`. */
struct resident_session {
    struct wsand_sandbox *stack[SANDBOXES_MAX];
    size_t depth;
    uint64_t timeout_ms;
};

/* Replaces escapes in place: the result is never longer than the line. */
static void
resident_unescape(char *s)
{
    char *to = s;

    for (; *s; s++) {
        if (*s == '\\' && (s[1] == 'n' || s[1] == '\\')) {
            s++;
            *to++ = *s == 'n' ? '\n' : '\\';
        } else {
            *to++ = *s;
        }
    }
    *to = 0;
}

/* NULL is fine where there is nothing. */
static void
resident_put(const char *p, size_t len)
{
    if (len)
        (void)fwrite(p, 1, len, stdout);
}

/* The lengths are printed first, because the texts may have any bytes. */
static void
resident_answer(const struct wsand_output *o)
{
    printf("status %d %zu %zu %zu %llu\n", o->exit_code, o->out_len, o->err_len,
           o->background_len, (unsigned long long)o->time_us);
    resident_put(o->out, o->out_len);
    resident_put(o->err, o->err_len);
    resident_put(o->background, o->background_len);
    putchar('\n');
    (void)fflush(stdout);
}

/* The checkpoint prepares the shell for the next command and for forks. It runs
 * after the answer, so its time is not part of the measured command. */
static int
resident_run_line(struct resident_session *s, const char *line,
                  struct wsand_error *err)
{
    struct wsand_sandbox *sb = s->stack[s->depth];
    struct wsand_run run = {.size = sizeof run,
                            .command = line,
                            .command_len = strlen(line),
                            .timeout_ms = s->timeout_ms};
    struct wsand_output out = {.size = sizeof out};

    int r = wsand_run(sb, &run, &out, err);
    if (r < 0)
        return r;
    resident_answer(&out);
    wsand_output_free(&out);
    return wsand_checkpoint(sb, err);
}

/* A stack that is full is reported, but does not end the session. */
static int
resident_fork_sandbox(struct resident_session *s, struct wsand_error *err)
{
    if (s->depth + 1 == SANDBOXES_MAX) {
        complain("shell: more than %d sandboxes", SANDBOXES_MAX);
        return 0;
    }
    int r = wsand_fork(s->stack[s->depth], &s->stack[s->depth + 1], err);
    if (r == 0)
        s->depth++;
    return r;
}

/* Words that begin with a colon are for this program, not for the shell. */
static int
do_line(struct resident_session *s, char *line, struct wsand_error *err)
{
    if (!strcmp(line, ":fork"))
        return resident_fork_sandbox(s, err);
    if (!strcmp(line, ":back")) {
        if (s->depth)
            wsand_sandbox_free(s->stack[s->depth--]);
        return 0;
    }
    if (!strncmp(line, ":timeout ", 9)) {
        s->timeout_ms = strtoull(line + 9, NULL, 10);
        return 0;
    }
    resident_unescape(line);
    return resident_run_line(s, line, err);
}

/* Input is not buffered, so that nothing is read ahead of the command that
 * runs. The sandboxes are freed from the newest to the oldest. */
int
resident_session(struct exec_request *q)
{
    struct wsand_runtime_options ro = {.size = sizeof ro,
                                       .root_image = q->root,
                                       .shipped_dir = beside_find_code(),
                                       .compiler = "/proc/self/exe"};
    struct wsand_runtime *rt = NULL;
    struct resident_session s = {.timeout_ms = q->exec.timeout_ms};
    struct wsand_error err = {0};
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;

    setvbuf(stdin, NULL, _IONBF, 0);
    int r = wsand_runtime_new(&ro, &rt, &err);
    if (r == 0)
        r = wsand_sandbox_new(rt, &q->sandbox, &s.stack[0], &err);
    while (r == 0) {
        len = getline(&line, &cap, stdin);
        if (len < 0)
            break;
        if (len && line[len - 1] == '\n')
            line[len - 1] = 0;
        r = do_line(&s, line, &err);
    }
    free(line);
    if (r < 0)
        complain("%s", wsand_error_text(&err));
    do
        wsand_sandbox_free(s.stack[s.depth]);
    while (s.depth--);
    wsand_runtime_free(rt);
    return r < 0 ? EXIT_USAGE : 0;
}

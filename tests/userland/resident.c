/* resident COMPILER ROOT [--file-count N] [--mount HOST:GUEST]...: one shell on
 * a root image, with one command a line on standard input. COMPILER is the
 * wasm-sandbox program, which compiles what guests bring. The answer to each:
 *
 *   status STATUS STDOUT-BYTES STDERR-BYTES BACKGROUND-BYTES MICROSECONDS
 *   the three texts, one after the other, and a newline
 *
 * "\n" in a line stands for a newline, "\\" for a backslash. A line that begins
 * with ":fork" makes a copy of the sandbox and goes on in it, ":back" returns
 * to the one before; ":timeout MS" limits the following commands. */
#include "wasmsand.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SANDBOXES_MAX = 64,
    MOUNTS_MAX = 8,
    FILES = 100000,
    COMMAND_BYTES = 1 << 20,
    EXIT_FAILED = 2,
};

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
        (void)fprintf(stderr, "resident: more than %d sandboxes\n",
                      SANDBOXES_MAX);
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
 * runs. */
static int
run_lines(struct resident_session *s, struct wsand_error *err)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    int r = 0;

    setvbuf(stdin, NULL, _IONBF, 0);
    while (r == 0 && (len = getline(&line, &cap, stdin)) >= 0) {
        if (len && line[len - 1] == '\n')
            line[len - 1] = 0;
        r = do_line(s, line, err);
    }
    free(line);
    return r;
}

/* Options come in pairs of a name and a value. */
static void
parse_options(char **argv, struct wsand_options *o, struct wsand_mount *mounts)
{
    for (; argv[0] && argv[1]; argv += 2) {
        char *colon = strchr(argv[1], ':');
        if (!strcmp(argv[0], "--file-count")) {
            o->files = strtoull(argv[1], NULL, 10);
        } else if (!strcmp(argv[0], "--mount") && colon &&
                   o->n_mounts < MOUNTS_MAX) {
            *colon = 0;
            mounts[o->n_mounts++] = (struct wsand_mount){
                .host_path = argv[1], .guest_path = colon + 1};
        } else {
            (void)fprintf(stderr, "resident: %s %s\n", argv[0], argv[1]);
            exit(EXIT_FAILED);
        }
    }
}

/* Compiled code is beside the root image. The sandboxes are freed from the
 * newest to the oldest. */
int
main(int argc, char **argv)
{
    struct wsand_mount mounts[MOUNTS_MAX];
    struct wsand_options o = {.size = sizeof o,
                              .files = FILES,
                              .command_bytes = COMMAND_BYTES,
                              .needs_shell = true,
                              .mounts = mounts};
    struct resident_session s = {0};
    struct wsand_runtime *rt = NULL;
    struct wsand_error err = {0};
    char *code, *folder = argc < 3 ? NULL : strdup(argv[2]);

    if (!folder || asprintf(&code, "%s/code", dirname(folder)) < 0)
        return EXIT_FAILED;
    parse_options(argv + 3, &o, mounts);
    struct wsand_runtime_options ro = {.size = sizeof ro,
                                       .root_image = argv[2],
                                       .shipped_dir = code,
                                       .compiler = argv[1]};
    int r = wsand_runtime_new(&ro, &rt, &err);
    if (r == 0)
        r = wsand_sandbox_new(rt, &o, &s.stack[0], &err);
    if (r == 0)
        r = run_lines(&s, &err);
    if (r < 0)
        (void)fprintf(stderr, "resident: %s\n", wsand_error_text(&err));
    do
        wsand_sandbox_free(s.stack[s.depth]);
    while (s.depth--);
    wsand_runtime_free(rt);
    free(code);
    free(folder);
    return r < 0 ? EXIT_FAILED : 0;
}

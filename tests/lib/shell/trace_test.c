/* The last system calls of a command that fails. */
#include "shell_test.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The trace of a command as text, freed with free(); NULL: none. */
static char *
trace_of(struct lib *l, const char *command)
{
    struct wsand_run run = {.size = sizeof run,
                            .command = command,
                            .command_len = strlen(command),
                            .timeout_ms = 100000,
                            .trace = true};
    struct wsand_output out = {.size = sizeof out};
    char *text = NULL;

    CHECK_EQ(wsand_run(l->sb, &run, &out, NULL), 0);
    if (out.trace)
        text = strndup(out.trace, out.trace_len);
    wsand_output_free(&out);
    CHECK(!out.trace);
    return text;
}

static size_t
count_lines(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += *s == '\n';
    return n;
}

TEST(a_command_that_fails_has_a_trace)
{
    LIB_SANDBOX(l, .files = 0);
    char *trace = trace_of(&l, "cd /nope");
    CHECK(trace && strstr(trace, "(\"/nope\""));
    CHECK(trace && strstr(trace, " = -1 ENOENT\n"));
    free(trace);
    CHECK(!trace_of(&l, "true"));
    CHECK(!trace_of(&l, "cd /nope; true"));
    lib_free(&l);
}

TEST(a_trace_has_the_newest_lines)
{
    LIB_SANDBOX(l, .files = 0);
    char *trace = trace_of(&l, "for i in {1..3000}; do cd /no$i; done");
    CHECK(trace && count_lines(trace) == 200);
    CHECK(trace && trace[0] == '[');
    CHECK(trace && strstr(trace, "\"/no3000\""));
    CHECK(trace && !strstr(trace, "\"/no1\""));
    free(trace);
    lib_free(&l);
}

/* The other process makes its calls while the traced command waits. */
TEST(a_trace_is_of_one_run)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_RUN(l.sb, "mkfifo /tmp/go /tmp/done", 0, "");
    CHECK_RUN(l.sb, "(: </tmp/go; cd /other; : >/tmp/done) 2>&- &", 0, "");
    char *trace = trace_of(&l, ": >/tmp/go; : </tmp/done; cd /mine");
    CHECK(trace && strstr(trace, "\"/mine\""));
    CHECK(trace && !strstr(trace, "/other"));
    free(trace);
    lib_free(&l);
}

TEST(callers_without_a_trace_get_none)
{
    LIB_SANDBOX(l, .files = 0);
    const struct wsand_run run = {.size = sizeof run,
                                  .command = "false",
                                  .command_len = 5,
                                  .trace = true};
    struct wsand_output out = {.size = offsetof(struct wsand_output, trace)};
    CHECK_EQ(wsand_run(l.sb, &run, &out, NULL), 0);
    CHECK_EQ(out.exit_code, 1);
    wsand_output_free(&out);
    lib_free(&l);
}

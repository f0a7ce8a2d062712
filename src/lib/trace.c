/* The last lines of strace for one command, in a ring of bytes. A trace of the
 * whole sandbox gets the same lines. */
#include "lib/trace.h"

#include "kernel/capture.h"
#include "kernel/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The maximum of lines that are returned, and the bytes that are kept for
 * them. */
enum { TRACE_LINES = 200, TRACE_BYTES = 64 << 10 };

/* Takes the place of the kernel's trace sink during a run, and passes the lines
 * on to it. */
struct trace {
    struct host_sink sink;
    struct kernel *kernel;
    struct capture *lines;
    bool is_on;
};

static void
trace_put(struct host_sink *s, const char *text, size_t len)
{
    const struct trace *t = (struct trace *)s;
    struct host_sink *others = t->kernel->strace_others;

    capture_add(t->lines, text, len);
    if (others)
        others->put(others, text, len);
}

int
trace_new(struct kernel *k, OWN struct trace **ret)
{
    CLEANUP(trace_freep) struct trace *t = calloc(1, sizeof *t);

    if (!t)
        return -ENOMEM;
    t->kernel = k;
    t->lines = capture_new(TRACE_BYTES, true);
    if (!t->lines)
        return -ENOMEM;
    t->sink.put = trace_put;
    t->is_on = true;
    k->strace_others = k->strace;
    k->strace_has_run = true;
    k->strace = &t->sink;
    *ret = STEAL(t);
    return 0;
}

/* The trace of the whole sandbox takes its place again. */
void
trace_free(OWN struct trace *t)
{
    if (!t)
        return;
    if (t->is_on) {
        t->kernel->strace = STEAL(t->kernel->strace_others);
        t->kernel->strace_has_run = false;
    }
    capture_put(t->lines);
    free(t);
}

/* Returns the start of the newest lines. The first line of a full ring may be
 * cut, and is skipped. */
static const char *
trace_newest(const struct capture *c)
{
    const char *first = c->data, *at = c->data + c->len;
    const char *whole = c->dropped ? memchr(first, '\n', c->len) : NULL;

    if (whole)
        first = whole + 1;
    for (int n = 0; at > first && n <= TRACE_LINES; at--)
        n += at[-1] == '\n';
    return at > first ? at + 1 : first;
}

OWN char *
trace_take(struct trace *t, size_t *ret_len)
{
    size_t len;

    if (!t->lines->len)
        return NULL;
    const char *from = trace_newest(t->lines);
    size_t skip = (size_t)(from - t->lines->data);
    char *text = capture_take(t->lines, &len);
    memmove(text, text + skip, len - skip);
    *ret_len = len - skip;
    return text;
}

/* The way into a WASI function, and its answer.
 *
 * All functions pass through thread_wasi, the counterpart of thread_syscall: it
 * begins and ends the call in the same way, so that waiting, signals and traces
 * are shared. */
#include "kernel/wasi/wasi.h"

#include "kernel/strace.h"
#include "kernel/syscall.h"
#include "kernel/wasi/wasi_impl.h"

#include <errno.h>
#include <stdlib.h>

/* A row of wasi.def. */
struct wasi_row {
    const char *name, *params;
    wasi_fn *fn;
};

#define WASI(name, params, result, how) {#name, params, wasi_##name},
static const struct wasi_row rows[] = {
#include "kernel/wasi/wasi.def"
};
#undef WASI

#define ERRNO(name, number) [name] = number,
static const uint8_t numbers[] = {
#include "kernel/wasi/errno.def"
};
#undef ERRNO

#define ERRNO(name, number) [number] = #name,
static const char *const names[] = {
#include "kernel/wasi/errno.def"
};
#undef ERRNO

/* An error that WASI does not have becomes EIO. */
uint16_t
wasi_errno(int64_t r)
{
    size_t e = r < 0 ? (size_t)-r : 0;

    if (!e)
        return 0;
    return e < sizeof numbers && numbers[e] ? numbers[e] : numbers[EIO];
}

/* Called by exec and exit, through abi_state_free. */
static void
wasi_free(OWN struct abi_state *s)
{
    struct wasi *w = (struct wasi *)s;

    for (size_t i = 0; i < w->cap; i++)
        free(w->fds[i].preopen);
    free(w->fds);
    free(w);
}

/* Creates the state of the task and its preopens, with the first call. */
static int
wasi_need(struct task *t)
{
    if (t->abi)
        return 0;
    struct wasi *w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    w->abi.free = wasi_free;
    t->abi = &w->abi;
    int r = preopen_all(t);
    if (r < 0)
        abi_state_free(STEAL(t->abi));
    return r;
}

/* --- strace */

/* Like strace_enter, by the parameter letters of wasi.def. */
static void
wasi_trace_enter(struct host_sink *out, const struct task *t,
                 const struct wasi_row *row, const uint64_t *a)
{
    enum { SMALL = 4096 }; /* larger 32-bit numbers are mostly addresses */

    strace_printf(out, "[%d] %s(", t->pid, row->name);
    for (size_t i = 0; row->params[i]; i++) {
        const char *comma = i ? ", " : "";
        if (row->params[i] == 'I' || a[i] < SMALL)
            strace_printf(out, "%s%lld", comma, (long long)a[i]);
        else
            strace_printf(out, "%s0x%llx", comma, (unsigned long long)a[i]);
    }
    strace_puts(out, ")");
}

static void
wasi_trace_exit(struct host_sink *out, int64_t r)
{
    if (r == -EWAIT)
        strace_puts(out, " = ? (waits)\n");
    else if (r < 0)
        strace_printf(out, " = %u %s\n", wasi_errno(r), names[wasi_errno(r)]);
    else
        strace_puts(out, " = 0\n");
}

/* A process that cannot get its state may still exit. */
int32_t
thread_wasi(struct thread *th, unsigned row, const uint64_t *args)
{
    struct task *t = th->task;
    struct host_sink *strace = th->kernel->strace ? strace_of_task(t) : NULL;

    if (th->leaving)
        return wasi_errno(-EINTR);
    thread_call_begin(th, CALL_WASI | row);
    t->usage.syscalls++;
    if (strace)
        wasi_trace_enter(strace, t, &rows[row], args);
    int64_t r = wasi_need(t);
    if (r == 0 || rows[row].fn == wasi_proc_exit)
        r = rows[row].fn(t, args);
    r = thread_call_end(th, t, r);
    if (strace)
        wasi_trace_exit(strace, r);
    return r == -EWAIT ? -EWAIT : wasi_errno(r);
}

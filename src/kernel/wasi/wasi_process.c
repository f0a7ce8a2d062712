/* Arguments, environment, clocks, random bytes, the process itself. */
#include "kernel/wasi/wasi_impl.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

/* --- arguments and environment */

/* n strings, one after the other with their NULs. */
struct wasi_strings {
    const char *first;
    uint32_t n, bytes;
};

/* Returns the string after the first n ones. */
static const char *
wasi_process_skip(const char *s, uint32_t n)
{
    while (n--)
        s += strlen(s) + 1;
    return s;
}

/* The kernel has arguments and environment as one block, in this order. */
static struct wasi_strings
wasi_process_arguments(const struct task *t)
{
    const struct args *a = &t->args;

    return (struct wasi_strings){
        a->strings, a->argc,
        (uint32_t)(wasi_process_skip(a->strings, a->argc) - a->strings)};
}

/* The environment begins after the last argument. */
static struct wasi_strings
wasi_process_environment(const struct task *t)
{
    const char *first = wasi_process_skip(t->args.strings, t->args.argc);

    return (struct wasi_strings){
        first, t->args.envc,
        (uint32_t)(t->args.len - (size_t)(first - t->args.strings))};
}

/* Stores the strings at `buf` and their addresses at `array`. Both sizes are
 * known to the program from the call before. */
static int
wasi_process_put_strings(struct task *t, const struct wasi_strings *s,
                         gaddr array, gaddr buf)
{
    const char *p = s->first;

    int r = copy_to_guest(t, buf, p, s->bytes);
    for (uint32_t i = 0; i < s->n && r == 0; i++) {
        gaddr at = buf + (gaddr)(p - s->first);
        r = copy_to_guest(t, array + 4 * i, &at, sizeof at);
        p += strlen(p) + 1;
    }
    return r;
}

/* The program allocates this much before it asks for the strings. */
static int
wasi_process_put_sizes(struct task *t, const struct wasi_strings *s,
                       gaddr count, gaddr bytes)
{
    int r = copy_to_guest(t, count, &s->n, sizeof s->n);

    return r < 0 ? r : copy_to_guest(t, bytes, &s->bytes, sizeof s->bytes);
}

/* args_get(array, buf) */
int64_t
wasi_args_get(struct task *t, const uint64_t *a)
{
    struct wasi_strings s = wasi_process_arguments(t);

    return wasi_process_put_strings(t, &s, (gaddr)a[0], (gaddr)a[1]);
}

/* args_sizes_get(&count, &bytes) */
int64_t
wasi_args_sizes_get(struct task *t, const uint64_t *a)
{
    struct wasi_strings s = wasi_process_arguments(t);

    return wasi_process_put_sizes(t, &s, (gaddr)a[0], (gaddr)a[1]);
}

/* environ_get(array, buf) */
int64_t
wasi_environ_get(struct task *t, const uint64_t *a)
{
    struct wasi_strings s = wasi_process_environment(t);

    return wasi_process_put_strings(t, &s, (gaddr)a[0], (gaddr)a[1]);
}

/* environ_sizes_get(&count, &bytes) */
int64_t
wasi_environ_sizes_get(struct task *t, const uint64_t *a)
{
    struct wasi_strings s = wasi_process_environment(t);

    return wasi_process_put_sizes(t, &s, (gaddr)a[0], (gaddr)a[1]);
}

/* --- clocks: WASI's four have the numbers of Linux's first four */

static int
wasi_process_clock_ns(struct task *t, uint64_t id, int64_t *ret)
{
    if (id > CLOCK_THREAD_CPUTIME_ID)
        return -EINVAL;
    return task_clock_ns(t, (int)id, ret);
}

/* clock_res_get(id, &resolution) */
int64_t
wasi_clock_res_get(struct task *t, const uint64_t *a)
{
    const uint64_t resolution = 1;
    int64_t ns;

    int r = wasi_process_clock_ns(t, a[0], &ns);
    if (r < 0)
        return r;
    return copy_to_guest(t, (gaddr)a[1], &resolution, sizeof resolution);
}

/* clock_time_get(id, precision, &time) */
int64_t
wasi_clock_time_get(struct task *t, const uint64_t *a)
{
    int64_t ns;

    int r = wasi_process_clock_ns(t, a[0], &ns);
    return r < 0 ? r : copy_to_guest(t, (gaddr)a[2], &ns, sizeof ns);
}

/* --- the process */

/* proc_exit(status): the lowest byte counts, as in exit(2). */
int64_t
wasi_proc_exit(struct task *t, const uint64_t *a)
{
    task_exit(t, (int)(a[0] & 0xff) << 8);
    return 0;
}

/* proc_raise(signal): sends the process itself a signal. WASI has no handlers,
 * so its default action follows. */
int64_t
wasi_proc_raise(struct task *t, const uint64_t *a)
{
    /* WASI has no SIGSTKFLT: from there on its numbers are one less. */
    enum { LAST_SAME = SIGTERM, LAST = 30 };
    struct siginfo_k si = {.code = SI_TKILL, .pid = t->pid};

    if (a[0] > LAST)
        return -EINVAL;
    if (!a[0])
        return 0;
    si.uid = t->as.cred.uid;
    si.signo = (int32_t)a[0] + (a[0] > LAST_SAME);
    return signal_send(t, &si);
}

/* sched_yield() */
int64_t
wasi_sched_yield(struct task *t, const uint64_t *a)
{
    (void)a;
    return thread_yield(t->thread);
}

/* random_get(buf, len): in steps, as it cannot return short. */
int64_t
wasi_random_get(struct task *t, const uint64_t *a)
{
    enum { STEP_BYTES = 1 << 20 };
    struct thread *th = t->thread;
    uint64_t done = th->call.progress, left = a[1] - done;
    uint8_t *p = guest_out(t, (gaddr)a[0], a[1]);

    if (!p)
        return -EFAULT;
    size_t n = left < STEP_BYTES ? (size_t)left : STEP_BYTES;
    rng_fill(&t->kernel->rng, p + done, n);
    if (n == left)
        return 0;
    th->call.progress = done + n;
    th->is_ready = true;
    return -EWAIT;
}

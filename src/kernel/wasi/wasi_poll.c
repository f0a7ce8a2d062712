/* poll_oneoff: waiting for clocks and files at once.
 *
 * Each try checks all subscriptions first, and adds the thread to their queues
 * only if none has an event. Times count from the first try. */
#include "kernel/wasi/wasi_impl.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>

enum { SUBSCRIPTIONS_MAX = 4096 };

/* One call of poll_oneoff. */
struct oneoff {
    struct task *t;
    gaddr in, out;
    uint32_t n, found;
    int64_t now_ns;
    int64_t next_ns;       /* the earliest clock that has not struck */
    struct poll_table *pt; /* NULL: only look */
};

/* The buffer has space for an event of each subscription, as was checked. */
static int
wasi_poll_put_event(struct oneoff *o, const struct wasi_event *e)
{
    gaddr to = o->out + o->found++ * (uint32_t)sizeof *e;

    return copy_to_guest(o->t, to, e, sizeof *e);
}

/* --- clocks */

/* A timeout beyond the range of the clock never ends. */
static int64_t
wasi_poll_saturating_add(int64_t a, uint64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? NS_NEVER : sum;
}

/* Computes when the clock of s is due, by the monotonic clock. Real times are
 * converted with the difference at the first try, so a retry cannot move
 * them. */
static int
wasi_poll_deadline_of(const struct oneoff *o, const struct wasi_subscription *s,
                      int64_t *ret)
{
    const struct wasi *w = wasi_of(o->t);
    bool is_real = s->clock.id == CLOCK_REALTIME;

    if (s->clock.id > CLOCK_THREAD_CPUTIME_ID ||
        s->clock.flags & ~SUBCLOCK_ABSTIME)
        return -EINVAL;
    if (!is_real && s->clock.id != CLOCK_MONOTONIC)
        return -EOPNOTSUPP;
    if (!(s->clock.flags & SUBCLOCK_ABSTIME))
        *ret = wasi_poll_saturating_add(w->poll_mono_ns, s->clock.timeout);
    else
        *ret = wasi_poll_saturating_add(
            is_real ? w->poll_mono_ns - w->poll_real_ns : 0, s->clock.timeout);
    return 0;
}

/* A clock that is not due determines how long the call may wait. */
static int
wasi_poll_look_at_clock(struct oneoff *o, const struct wasi_subscription *s)
{
    struct wasi_event e = {.userdata = s->userdata, .type = EVENT_CLOCK};
    int64_t deadline;

    int r = wasi_poll_deadline_of(o, s, &deadline);
    if (r < 0)
        return r;
    if (deadline <= o->now_ns)
        return wasi_poll_put_event(o, &e);
    if (deadline < o->next_ns)
        o->next_ns = deadline;
    return 0;
}

/* --- files */

/* Returns the number of readable bytes, if the file knows it; otherwise 1.
 * FIONREAD writes to guest memory: the space of the event is used, which is
 * overwritten afterwards. */
static uint64_t
wasi_poll_readable_bytes(struct oneoff *o, struct file *f)
{
    gaddr at = o->out + o->found * (uint32_t)sizeof(struct wasi_event);
    struct attr a;
    int32_t n;

    if (f->has_pos && file_getattr(f, &a) == 0)
        return a.size > f->pos ? a.size - f->pos : 0;
    if (!f->ops->ioctl || f->ops->ioctl(f, o->t, FIONREAD, at) < 0 ||
        copy_from_guest(o->t, &n, at, sizeof n) < 0)
        return 1;
    return n > 0 ? (uint64_t)n : 0;
}

/* An invalid descriptor is an event with an error, not an error of the call. */
static int
wasi_poll_look_at_file(struct oneoff *o, const struct wasi_subscription *s)
{
    bool reads = s->tag == EVENT_FD_READ;
    short wanted = reads ? POLLIN | POLLRDNORM : POLLOUT | POLLWRNORM;
    struct wasi_event e = {.userdata = s->userdata, .type = s->tag};
    struct file *f;

    int r = wasi_file(o->t, s->fd, RIGHT_POLL_FD_READWRITE, &f);
    if (r < 0) {
        e.error = wasi_errno(r);
        return wasi_poll_put_event(o, &e);
    }
    short events = file_poll(f, o->pt);
    if (!(events & (wanted | POLLERR | POLLHUP)))
        return 0;
    if (events & POLLHUP)
        e.flags = EVENT_FD_HANGUP;
    e.nbytes = reads ? wasi_poll_readable_bytes(o, f) : 1;
    return wasi_poll_put_event(o, &e);
}

/* --- all of them */

/* Reads each subscription once, checks it, and writes the events that are
 * there. */
static int
wasi_poll_look_at_all(struct oneoff *o)
{
    int r = 0;

    o->found = 0;
    o->next_ns = NS_NEVER;
    for (uint32_t i = 0; i < o->n && r == 0; i++) {
        struct wasi_subscription s;
        gaddr at = o->in + i * (uint32_t)sizeof s;
        r = copy_from_guest(o->t, &s, at, sizeof s);
        if (r < 0)
            break;
        if (s.tag == EVENT_CLOCK)
            r = wasi_poll_look_at_clock(o, &s);
        else
            r = s.tag <= EVENT_FD_WRITE ? wasi_poll_look_at_file(o, &s)
                                        : -EINVAL;
    }
    return r;
}

/* Relative times count from the first try of the call. */
static void
wasi_poll_remember_start(struct task *t)
{
    if (t->thread->call.is_retry)
        return;
    wasi_of(t)->poll_mono_ns = clock_mono_ns(&t->kernel->clock);
    wasi_of(t)->poll_real_ns = clock_real_ns(&t->kernel->clock);
}

/* Waits, because nothing has happened yet, unless a deadline has passed
 * meanwhile. The second pass adds the thread to the queues. */
static int
wasi_poll_wait_for_any(struct oneoff *o)
{
    struct thread_poll tp;

    if (thread_deadline(o->t->thread, o->next_ns)) {
        o->now_ns = o->next_ns;
        return wasi_poll_look_at_all(o);
    }
    thread_poll_init(&tp, o->t->thread);
    o->pt = &tp.pt;
    int r = wasi_poll_look_at_all(o);
    o->pt = NULL;
    return r < 0 || o->found ? r : -EWAIT;
}

/* poll_oneoff(in, out, n, &n_events) */
int64_t
wasi_poll_oneoff(struct task *t, const uint64_t *a)
{
    struct oneoff o = {
        .t = t, .in = (gaddr)a[0], .out = (gaddr)a[1], .n = (uint32_t)a[2]};

    if (!o.n || o.n > SUBSCRIPTIONS_MAX)
        return -EINVAL;
    int r = wasi_check(t, a[1], (uint64_t)o.n * sizeof(struct wasi_event));
    if (r == 0)
        r = wasi_check(t, a[3], sizeof o.found);
    if (r < 0)
        return r;
    wasi_poll_remember_start(t);
    o.now_ns = clock_mono_ns(&t->kernel->clock);
    r = wasi_poll_look_at_all(&o);
    if (r == 0 && !o.found)
        r = wasi_poll_wait_for_any(&o);
    return r < 0 ? r : copy_to_guest(t, (gaddr)a[3], &o.found, sizeof o.found);
}

/* Timers as files.
 *
 * An interval timer is restarted only when its file is read or its setting is
 * asked for. A timer that nobody reads therefore costs one wake-up, however
 * short its interval; the missed periods are computed from the clock. */
#include "kernel/timerfd.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct timerfd {
    struct kernel *kernel;
    struct timer timer;
    bool is_real;
    bool has_fired; /* since it was last started */
    int64_t interval_ns;
    uint64_t ticks; /* not read yet */
    struct waitq fired;
};

/* The timer is not started again here: see the head of the file. */
static void
timerfd_on_fire(struct timer *timer)
{
    struct timerfd *tf = CONTAINER_OF(timer, struct timerfd, timer);

    tf->ticks++;
    tf->has_fired = true;
    waitq_wake(&tf->fired);
}

/* Counts the intervals that have passed since the timer fired, and starts it
 * again. */
static int
timerfd_catch_up(struct timerfd *tf)
{
    struct clock *c = &tf->kernel->clock;

    if (!tf->has_fired || !tf->interval_ns)
        return 0;
    int64_t late = clock_mono_ns(c) - tf->timer.deadline_ns;
    int64_t missed = late > 0 ? late / tf->interval_ns : 0;
    int64_t done = tf->timer.deadline_ns + missed * tf->interval_ns;
    int64_t next =
        done > NS_NEVER - tf->interval_ns ? NS_NEVER : done + tf->interval_ns;
    int r = timer_start(c, &tf->timer, next);
    if (r < 0)
        return r;
    tf->ticks += (uint64_t)missed;
    tf->has_fired = false;
    return 0;
}

/* Returns the number of expirations since the last read. */
static int64_t
timerfd_read(struct file *f, struct task *t, void *buf, size_t len,
             uint64_t *pos)
{
    struct timerfd *tf = f->obj;

    (void)t;
    (void)pos;
    if (len < sizeof tf->ticks)
        return -EINVAL;
    if (!tf->ticks)
        return -EAGAIN;
    int r = timerfd_catch_up(tf);
    if (r < 0)
        return r;
    memcpy(buf, &tf->ticks, sizeof tf->ticks);
    tf->ticks = 0;
    return sizeof tf->ticks;
}

static short
timerfd_poll(struct file *f, struct poll_table *pt)
{
    struct timerfd *tf = f->obj;

    poll_wait(pt, &tf->fired);
    return tf->ticks ? POLLIN | POLLRDNORM : 0;
}

static void
timerfd_release(struct file *f)
{
    struct timerfd *tf = f->obj;

    timer_stop(&tf->kernel->clock, &tf->timer);
    waitq_fini(&tf->fired);
    free(tf);
}

static const struct file_ops timerfd_ops = {
    .kind = "anon_inode:[timerfd]",
    .read = timerfd_read,
    .poll = timerfd_poll,
    .release = timerfd_release,
};

int
timerfd_new(struct kernel *k, bool is_real, uint32_t flags,
            OWN struct file **ret)
{
    struct timerfd *tf = malloc(sizeof *tf);

    if (!tf)
        return -ENOMEM;
    *tf = (struct timerfd){
        .kernel = k, .is_real = is_real, .timer.fire = timerfd_on_fire};
    waitq_init(&tf->fired);
    return file_new(&k->vfs, &timerfd_ops, tf, O_RDWR | flags, ret);
}

/* A timer that is due but was not fired yet has at least a nanosecond left: 0
 * would mean that it is disarmed. */
static void
timerfd_current(struct timerfd *tf, struct timerfd_spec *ret)
{
    int64_t left = 0;

    if (timer_is_running(&tf->timer)) {
        left = tf->timer.deadline_ns - clock_mono_ns(&tf->kernel->clock);
        left = left > 0 ? left : 1; /* 0 would say that it is disarmed */
    }
    *ret = (struct timerfd_spec){tf->interval_ns, left};
}

/* Returns the monotonic time at which a timer fires that is set now. Absolute
 * real times are converted with the current difference of the two clocks. */
static int64_t
timerfd_deadline_of(const struct timerfd *tf, bool is_absolute,
                    int64_t value_ns)
{
    struct clock *c = &tf->kernel->clock;
    int64_t now = clock_mono_ns(c);

    if (is_absolute && tf->is_real)
        value_ns -= clock_real_ns(c) - now;
    if (is_absolute)
        return value_ns > 0 ? value_ns : 0;
    return value_ns > NS_NEVER - now ? NS_NEVER : now + value_ns;
}

/* Returns the timer of f, with the expirations until now counted. -EINVAL: f is
 * another kind of file. */
static int
timerfd_of(struct file *f, struct timerfd **ret)
{
    if (f->ops != &timerfd_ops)
        return -EINVAL;
    *ret = f->obj;
    return timerfd_catch_up(*ret);
}

/* A new setting drops expirations that were not read. */
int
timerfd_set(struct file *f, bool is_absolute, const struct timerfd_spec *spec,
            struct timerfd_spec *old)
{
    struct timerfd *tf;

    int r = timerfd_of(f, &tf);
    if (r < 0)
        return r;
    timerfd_current(tf, old);
    timer_stop(&tf->kernel->clock, &tf->timer);
    tf->ticks = 0;
    tf->has_fired = false;
    tf->interval_ns = spec->interval_ns;
    if (!spec->value_ns)
        return 0;
    return timer_start(&tf->kernel->clock, &tf->timer,
                       timerfd_deadline_of(tf, is_absolute, spec->value_ns));
}

int
timerfd_get(struct file *f, struct timerfd_spec *ret)
{
    struct timerfd *tf;

    int r = timerfd_of(f, &tf);
    if (r == 0)
        timerfd_current(tf, ret);
    return r;
}

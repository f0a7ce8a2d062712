/* Clocks and timers of one sandbox.
 *
 * A fixed clock is virtual. It starts at the given time, advances by a
 * microsecond whenever a process asks for the time, and jumps to the next timer
 * when all processes sleep. */
#ifndef KERNEL_CLOCK_H
#define KERNEL_CLOCK_H

#include "base/host.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Uptime of a new sandbox; programs expect it not to be 0. */
#define CLOCK_START_NS NS_PER_S

struct clock {
    const struct host_ops *host;
    bool is_virtual;
    int64_t virtual_ns;   /* monotonic, in a virtual clock */
    int64_t real_base_ns; /* real = monotonic + this, in a virtual clock */
    int64_t boot_ns;      /* host monotonic time at the start of the sandbox */
    struct timer **heap;  /* by deadline, earliest first */
    size_t n_timers, cap;
};

/* Embedded in its owner, which must stop it before it is freed. `fire` is
 * called by the scheduler, after the timer has left the heap, and may start it
 * again. */
struct timer {
    int64_t deadline_ns; /* monotonic */
    size_t index;        /* position in the heap + 1; 0: not running */
    void (*fire)(struct timer *t);
};

/* Initializes a real or virtual clock; start_ns is the real time at which a
 * virtual clock starts. */
void clock_init(struct clock *c, const struct host_ops *host, bool is_virtual,
                int64_t start_ns);
void clock_fini(struct clock *c);
/* Return the time in nanoseconds: since the start of the sandbox (plus
 * CLOCK_START_NS), and since 1970. */
int64_t clock_mono_ns(const struct clock *c);
int64_t clock_real_ns(const struct clock *c);

/* Returns the deadline `ns` from now; NS_NEVER stays. */
int64_t clock_after(const struct clock *c, int64_t ns);

/* Starts or restarts a timer. -ENOMEM: no memory for one more timer. */
int timer_start(struct clock *c, struct timer *t, int64_t deadline_ns);
/* Stops a timer; one that is not running is fine. */
void timer_stop(struct clock *c, struct timer *t);
static inline bool
timer_is_running(const struct timer *t)
{
    return t->index != 0;
}
/* Fires all timers that are due. */
void clock_fire(struct clock *c);
/* Returns the earliest deadline, or NS_NEVER. */
int64_t clock_next_ns(const struct clock *c);
/* Advances a virtual clock to `ns`, unless that is in the past. */
void clock_jump(struct clock *c, int64_t ns);

#endif

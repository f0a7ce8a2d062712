/* Clocks and timers of one sandbox.
 *
 * With a fixed clock, time is virtual: it starts at the given moment, moves on
 * by a microsecond each time a process asks for it, and jumps to the next timer
 * when all sleep. */
#ifndef KERNEL_CLOCK_H
#define KERNEL_CLOCK_H

#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A sandbox begins so long after its boot: programs expect an uptime. */
#define CLOCK_START_NS NS_PER_S

struct clock {
    bool is_virtual;
    int64_t virtual_ns;   /* monotonic, in a virtual clock */
    int64_t real_base_ns; /* real = monotonic + this, in a virtual clock */
    int64_t boot_ns;      /* host monotonic time when the sandbox began */
    struct timer **heap;  /* by deadline, the earliest first */
    size_t n_timers, cap;
};

struct timer {
    int64_t deadline_ns; /* monotonic */
    size_t index;        /* place in the heap + 1; 0: not running */
    void (*fire)(struct timer *t);
};

/* Real and virtual clocks; start_ns: real time a virtual clock begins at. */
void clock_init(struct clock *c, bool is_virtual, int64_t start_ns);
void clock_fini(struct clock *c);
int64_t clock_mono_ns(const struct clock *c); /* since the sandbox began */
int64_t clock_real_ns(const struct clock *c);
/* The host's own clock, also beside a virtual one; and the processor time of
 * the calling thread. */
int64_t host_mono_ns(void);
int64_t host_thread_ns(void);

/* The deadline `ns` from now; NS_NEVER stays. */
int64_t clock_after(const struct clock *c, int64_t ns);

/* Room for one more timer must exist: -ENOMEM. Restarts a running one. */
int timer_start(struct clock *c, struct timer *t, int64_t deadline_ns);
void timer_stop(struct clock *c, struct timer *t);
static inline bool
timer_is_running(const struct timer *t)
{
    return t->index != 0;
}
/* Fires all timers that are due. */
void clock_fire(struct clock *c);
/* The earliest deadline, or NS_NEVER. */
int64_t clock_next_ns(const struct clock *c);
/* Virtual clocks: jump to `ns`, but never as far as NS_NEVER. */
void clock_jump(struct clock *c, int64_t ns);

#endif

/* Clocks, and timers in a binary heap by deadline. A timer stores its index, so
 * that it can be stopped or moved in O(log n). */
#include "kernel/clock.h"

#include <errno.h>
#include <stdlib.h>

/* A new sandbox has an uptime of CLOCK_START_NS, in both kinds of clocks. */
void
clock_init(struct clock *c, const struct host_ops *host, bool is_virtual,
           int64_t start_ns)
{
    *c = (struct clock){.host = host,
                        .is_virtual = is_virtual,
                        .virtual_ns = CLOCK_START_NS,
                        .real_base_ns = start_ns - CLOCK_START_NS};
    c->boot_ns = host->mono_ns() - CLOCK_START_NS;
}

void
clock_fini(struct clock *c)
{
    free(c->heap);
    c->heap = NULL;
    c->n_timers = c->cap = 0;
}

int64_t
clock_mono_ns(const struct clock *c)
{
    return c->is_virtual ? c->virtual_ns : c->host->mono_ns() - c->boot_ns;
}

/* A virtual clock has one time; the real one is the same, counted from 1970. */
int64_t
clock_real_ns(const struct clock *c)
{
    int64_t ns;

    if (!c->is_virtual)
        return c->host->real_ns();
    if (__builtin_add_overflow(c->real_base_ns, c->virtual_ns, &ns))
        return NS_NEVER;
    return ns;
}

int64_t
clock_after(const struct clock *c, int64_t ns)
{
    int64_t deadline;

    if (__builtin_add_overflow(clock_mono_ns(c), ns, &deadline))
        return NS_NEVER;
    return deadline;
}

/* A deadline of NS_NEVER - 1 is the last one that a clock can reach. */
void
clock_jump(struct clock *c, int64_t ns)
{
    if (ns > c->virtual_ns)
        c->virtual_ns = ns < NS_NEVER ? ns : NS_NEVER - 1;
}

int64_t
clock_next_ns(const struct clock *c)
{
    return c->n_timers ? c->heap[0]->deadline_ns : NS_NEVER;
}

/* Keeps the index in the timer in step with its slot in the heap. */
static void
clock_set_slot(struct clock *c, size_t i, struct timer *t)
{
    c->heap[i] = t;
    t->index = i + 1;
}

/* Moves the gap at i towards the root, past timers that are due later, and puts
 * t there. */
static void
clock_sift_up(struct clock *c, size_t i, struct timer *t)
{
    while (i > 0) {
        size_t up = (i - 1) / 2;
        if (c->heap[up]->deadline_ns <= t->deadline_ns)
            break;
        clock_set_slot(c, i, c->heap[up]);
        i = up;
    }
    clock_set_slot(c, i, t);
}

/* Moves the gap at i towards the leaves, past the earlier one of two
 * children. */
static void
clock_sift_down(struct clock *c, size_t i, struct timer *t)
{
    for (;;) {
        size_t down = 2 * i + 1;
        if (down >= c->n_timers)
            break;
        if (down + 1 < c->n_timers &&
            c->heap[down + 1]->deadline_ns < c->heap[down]->deadline_ns)
            down++;
        if (c->heap[down]->deadline_ns >= t->deadline_ns)
            break;
        clock_set_slot(c, i, c->heap[down]);
        i = down;
    }
    clock_set_slot(c, i, t);
}

/* The last timer of the heap fills the gap. It may belong above or below it. */
void
timer_stop(struct clock *c, struct timer *t)
{
    if (!t->index)
        return;
    size_t i = t->index - 1;
    struct timer *last = c->heap[--c->n_timers];
    t->index = 0;
    if (last == t)
        return;
    if (i > 0 && c->heap[(i - 1) / 2]->deadline_ns > last->deadline_ns)
        clock_sift_up(c, i, last);
    else
        clock_sift_down(c, i, last);
}

int
timer_start(struct clock *c, struct timer *t, int64_t deadline_ns)
{
    timer_stop(c, t);
    if (c->n_timers == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 16;
        struct timer **heap = realloc(c->heap, cap * sizeof *heap);
        if (!heap)
            return -ENOMEM;
        c->heap = heap;
        c->cap = cap;
    }
    t->deadline_ns = deadline_ns;
    clock_sift_up(c, c->n_timers++, t);
    return 0;
}

void
clock_fire(struct clock *c)
{
    if (!c->n_timers)
        return;
    int64_t now = clock_mono_ns(c);
    while (c->n_timers && c->heap[0]->deadline_ns <= now) {
        struct timer *t = c->heap[0];
        timer_stop(c, t);
        t->fire(t);
    }
}

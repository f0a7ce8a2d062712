/* The loop of the supervisor: descriptors and times, on one thread. */
#ifndef SUPERVISOR_REACTOR_H
#define SUPERVISOR_REACTOR_H

#include "base/list.h"
#include "base/os_time.h"

#include <stdbool.h>
#include <stdint.h>

/* Embedded in whoever waits for a descriptor. */
struct source {
    int hfd;         /* -1: not in the loop */
    uint32_t events; /* as of epoll */
    void (*ready)(struct source *s, uint32_t events);
};

/* Embedded in whoever waits for a time. */
struct timer {
    struct list link;
    int64_t at_ns; /* monotonic; 0: not set */
    void (*fire)(struct timer *t);
};

struct reactor {
    int epoll_hfd;
    bool is_stopping;
    struct list timers; /* the earliest first */
    struct source *ready[64];
    int n_ready; /* sources of this turn whose turn has not come */
};

int reactor_init(struct reactor *r);
void reactor_fini(struct reactor *r);
/* The source is not in the loop before. 0 or -errno. */
int reactor_add(struct reactor *r, struct source *s, int hfd, uint32_t events);
/* Other events; 0: none but errors and hang-ups. */
void reactor_change(struct reactor *r, struct source *s, uint32_t events);
/* Its ready() is not called any more, not even in this turn. Does not close.
 * A source that is not in the loop is fine. */
void reactor_remove(struct reactor *r, struct source *s);
/* Sets or moves a timer; at_ns 0 takes it away. */
void reactor_set_timer(struct reactor *r, struct timer *t, int64_t at_ns);
/* Until reactor_stop. */
int reactor_run(struct reactor *r);
void reactor_stop(struct reactor *r);

#endif

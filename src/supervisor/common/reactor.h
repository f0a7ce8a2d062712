/* The event loop of the supervisor: descriptors and timers, on one thread.
 *
 * Handlers must not wait. Everything that may wait runs elsewhere: the store's
 * thread, the spawner, and the workers. */
#ifndef SUPERVISOR_REACTOR_H
#define SUPERVISOR_REACTOR_H

#include "base/list.h"
#include "base/os_time.h"

#include <stdbool.h>
#include <stdint.h>

/* Embedded in objects that wait for a descriptor. */
struct source {
    int hfd;         /* -1: not in the loop */
    uint32_t events; /* as of epoll */
    bool is_late;    /* see reactor_add_late */
    void (*ready)(struct source *s, uint32_t events);
};

/* Embedded in objects that wait for a time. */
struct reactor_timer {
    struct list link;
    int64_t at_ns; /* monotonic; 0: not set */
    void (*fire)(struct reactor_timer *t);
};

/* The loop. `ready` has the sources of this iteration. */
struct reactor {
    int epoll_hfd;
    struct source late; /* an epoll of its own, with the late sources */
    bool is_stopping;
    struct list timers; /* earliest first */
    struct source *ready[64];
    /* ready sources of this iteration that are still to be called */
    int n_ready;
};

/* Returns 0 or -errno. */
/* The reactor must stay where it is. Returns 0 or -errno. */
int reactor_init(struct reactor *r);
void reactor_fini(struct reactor *r);
/* The source must not be in the loop. Returns 0 or -errno. */
int reactor_add(struct reactor *r, struct source *s, int hfd, uint32_t events);
/* Like reactor_add, for a source that strangers can make ready as often as they
 * like. An iteration serves all other ready sources, and then one late one. */
int reactor_add_late(struct reactor *r, struct source *s, int hfd,
                     uint32_t events);
/* Makes a late source an ordinary one. If the kernel refuses, it stays late. */
void reactor_promote(struct reactor *r, struct source *s);
/* Sets other events; 0: only errors and hang-ups. */
void reactor_change(struct reactor *r, struct source *s, uint32_t events);
/* The ready() of s is not called any more, not even in this iteration. Does not
 * close the descriptor. Accepts a source that is not in the loop. */
void reactor_remove(struct reactor *r, struct source *s);
/* Sets or moves a timer; at_ns 0 removes it. */
void reactor_set_timer(struct reactor *r, struct reactor_timer *t,
                       int64_t at_ns);
/* Runs until reactor_stop. */
int reactor_run(struct reactor *r);
/* Waits for the next events or timer, and handles them. 0 or -errno. */
int reactor_step(struct reactor *r);
/* Makes reactor_run return after this iteration. */
void reactor_stop(struct reactor *r);

#endif

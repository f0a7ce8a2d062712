/* The event loop: epoll, and a list of timers sorted by time.
 *
 * A handler may remove any source, also one that is ready in the same
 * iteration. reactor_remove therefore deletes it from the array of ready
 * sources, so that no freed object is called. */
#include "supervisor/common/reactor.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { READY_MAX = sizeof((struct reactor *)0)->ready / sizeof(void *) };

int
reactor_init(struct reactor *r)
{
    *r = (struct reactor){.epoll_hfd = epoll_create1(EPOLL_CLOEXEC)};
    list_init(&r->timers);
    return r->epoll_hfd < 0 ? -errno : 0;
}

void
reactor_fini(struct reactor *r)
{
    (void)close(r->epoll_hfd);
}

/* --- descriptors */

int
reactor_add(struct reactor *r, struct source *s, int hfd, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = s};

    if (epoll_ctl(r->epoll_hfd, EPOLL_CTL_ADD, hfd, &e) < 0)
        return -errno;
    s->hfd = hfd;
    s->events = events;
    return 0;
}

void
reactor_change(struct reactor *r, struct source *s, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = s};

    if (s->hfd < 0 || s->events == events)
        return;
    s->events = events;
    (void)epoll_ctl(r->epoll_hfd, EPOLL_CTL_MOD, s->hfd, &e);
}

void
reactor_remove(struct reactor *r, struct source *s)
{
    if (s->hfd < 0)
        return;
    (void)epoll_ctl(r->epoll_hfd, EPOLL_CTL_DEL, s->hfd, NULL);
    s->hfd = -1;
    for (int i = 0; i < r->n_ready; i++)
        if (r->ready[i] == s)
            r->ready[i] = NULL;
}

/* --- times */

static struct reactor_timer *
reactor_first_timer(const struct reactor *r)
{
    if (list_is_empty(&r->timers))
        return NULL;
    return CONTAINER_OF(r->timers.next, struct reactor_timer, link);
}

/* Returns the entry after which a timer belongs. The search starts at the end:
 * new times are usually the latest, or now. */
static struct list *
reactor_timer_before(struct reactor *r, int64_t at_ns)
{
    struct list *after = r->timers.prev;
    const struct reactor_timer *first = reactor_first_timer(r);

    if (!first || first->at_ns > at_ns)
        return &r->timers;
    while (CONTAINER_OF(after, struct reactor_timer, link)->at_ns > at_ns)
        after = after->prev;
    return after;
}

void
reactor_set_timer(struct reactor *r, struct reactor_timer *t, int64_t at_ns)
{
    if (t->at_ns)
        list_remove(&t->link);
    t->at_ns = at_ns;
    if (at_ns)
        list_insert_after(reactor_timer_before(r, at_ns), &t->link);
}

/* Fires the timers that are due now. A timer that a handler sets for now fires
 * in the next iteration, so that descriptors are served in between. */
static void
reactor_fire_timers(struct reactor *r)
{
    int64_t now_ns = time_mono_ns();
    struct reactor_timer *t;

    while ((t = reactor_first_timer(r)) && t->at_ns <= now_ns) {
        reactor_set_timer(r, t, 0);
        t->fire(t);
    }
}

/* Returns the timeout for epoll, rounded up so that the loop does not spin; -1
 * means forever. */
static int
reactor_wait_ms(const struct reactor *r)
{
    const struct reactor_timer *t = reactor_first_timer(r);

    if (!t)
        return -1;
    int64_t ms = (t->at_ns - time_mono_ns() + NS_PER_MS - 1) / NS_PER_MS;
    return ms < 0 ? 0 : ms > 3600000 ? 3600000 : (int)ms;
}

/* --- iterations */

int
reactor_step(struct reactor *r)
{
    struct epoll_event events[READY_MAX];

    int n = epoll_wait(r->epoll_hfd, events, READY_MAX, reactor_wait_ms(r));
    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < n; i++)
        r->ready[i] = events[i].data.ptr;
    r->n_ready = n;
    for (int i = 0; i < n; i++)
        if (r->ready[i])
            r->ready[i]->ready(r->ready[i], events[i].events);
    r->n_ready = 0;
    reactor_fire_timers(r);
    return 0;
}

int
reactor_run(struct reactor *r)
{
    int e = 0;

    while (!r->is_stopping && e == 0)
        e = reactor_step(r);
    return e;
}

void
reactor_stop(struct reactor *r)
{
    r->is_stopping = true;
}

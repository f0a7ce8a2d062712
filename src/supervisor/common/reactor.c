/* The event loop: epoll, and a list of timers sorted by time.
 *
 * Problem: a flood of connections makes hundreds of sources ready at once. If
 * all were served in the order of epoll, a session would wait for all of them,
 * several times for each of its requests.
 *
 * Idea: two classes of priority. Sources of strangers, the late ones, are in a
 * second epoll, which is itself one source of the first. Each iteration serves
 * all ready ordinary sources and then a single late one. So a ready session
 * waits for at most one stranger, whatever their number. Nor do strangers
 * starve: one is served in each iteration, and epoll puts a source that it has
 * reported at the end of its list.
 *
 * A handler may remove any source, also one that is ready in the same
 * iteration. reactor_remove therefore deletes it from the array of ready
 * sources, so that no freed object is called. */
#include "supervisor/common/reactor.h"

#include "base/hfd.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { READY_MAX = sizeof((struct reactor *)0)->ready / sizeof(void *) };

int
reactor_init(struct reactor *r)
{
    *r = (struct reactor){.epoll_hfd = epoll_create1(EPOLL_CLOEXEC)};
    list_init(&r->timers);
    if (r->epoll_hfd < 0)
        return -errno;
    int hfd = epoll_create1(EPOLL_CLOEXEC);
    int e = hfd < 0 ? -errno : reactor_add(r, &r->late, hfd, EPOLLIN);
    if (e == 0)
        return 0;
    hfd_closep(&hfd);
    hfd_closep(&r->epoll_hfd);
    return e;
}

void
reactor_fini(struct reactor *r)
{
    (void)close(r->late.hfd);
    (void)close(r->epoll_hfd);
}

/* --- descriptors */

static int
reactor_epoll_of(const struct reactor *r, bool is_late)
{
    return is_late ? r->late.hfd : r->epoll_hfd;
}

static int
reactor_add_to(struct reactor *r, struct source *s, int hfd, uint32_t events,
               bool is_late)
{
    struct epoll_event e = {.events = events, .data.ptr = s};

    if (epoll_ctl(reactor_epoll_of(r, is_late), EPOLL_CTL_ADD, hfd, &e) < 0)
        return -errno;
    s->hfd = hfd;
    s->events = events;
    s->is_late = is_late;
    return 0;
}

int
reactor_add(struct reactor *r, struct source *s, int hfd, uint32_t events)
{
    return reactor_add_to(r, s, hfd, events, false);
}

int
reactor_add_late(struct reactor *r, struct source *s, int hfd, uint32_t events)
{
    return reactor_add_to(r, s, hfd, events, true);
}

/* The descriptor is in both for a moment. No event is reported in between, so
 * none is reported twice. */
void
reactor_promote(struct reactor *r, struct source *s)
{
    if (s->hfd >= 0 && s->is_late &&
        reactor_add_to(r, s, s->hfd, s->events, false) == 0)
        (void)epoll_ctl(r->late.hfd, EPOLL_CTL_DEL, s->hfd, NULL);
}

void
reactor_change(struct reactor *r, struct source *s, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = s};

    if (s->hfd < 0 || s->events == events)
        return;
    s->events = events;
    (void)epoll_ctl(reactor_epoll_of(r, s->is_late), EPOLL_CTL_MOD, s->hfd, &e);
}

void
reactor_remove(struct reactor *r, struct source *s)
{
    if (s->hfd < 0)
        return;
    (void)epoll_ctl(reactor_epoll_of(r, s->is_late), EPOLL_CTL_DEL, s->hfd,
                    NULL);
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

/* Handlers of ordinary sources may have removed the late one that was ready, so
 * epoll is asked only now. */
static void
reactor_serve_late(struct reactor *r)
{
    struct epoll_event e;

    if (epoll_wait(r->late.hfd, &e, 1, 0) == 1) {
        struct source *s = e.data.ptr;
        s->ready(s, e.events);
    }
}

int
reactor_step(struct reactor *r)
{
    struct epoll_event events[READY_MAX];
    bool has_late = false;

    int n = epoll_wait(r->epoll_hfd, events, READY_MAX, reactor_wait_ms(r));
    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < n; i++)
        r->ready[i] = events[i].data.ptr;
    r->n_ready = n;
    for (int i = 0; i < n; i++)
        if (r->ready[i] == &r->late)
            has_late = true;
        else if (r->ready[i])
            r->ready[i]->ready(r->ready[i], events[i].events);
    r->n_ready = 0;
    if (has_late)
        reactor_serve_late(r);
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

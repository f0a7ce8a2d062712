/* Descriptors of the host that threads wait for.
 *
 * A watch is in the kernel's list while somebody waits for its descriptor. The
 * scheduler polls all of them together with the bell: without a wait between
 * slices, and with one when nothing is runnable. */
#include "kernel/kernel.h"

#include <poll.h>
#include <stdlib.h>

void
host_watch_init(struct host_watch *w, struct kernel *k, int hfd)
{
    (void)k;
    *w = (struct host_watch){.hfd = hfd};
    list_init(&w->link);
    waitq_init(&w->queue);
}

void
host_watch_fini(struct host_watch *w)
{
    list_remove(&w->link);
    waitq_fini(&w->queue);
}

void
host_watch_arm(struct host_watch *w, struct kernel *k, short events)
{
    w->events |= events;
    if (events && list_is_empty(&w->link))
        list_push_back(&k->host_watches, &w->link);
}

/* The kernel polls with timeout 0 here; it waits only in host_watch_wait, for
 * all descriptors together. */
short
host_watch_poll(struct host_watch *w, struct kernel *k, short events,
                struct poll_table *pt)
{
    struct pollfd p = {.fd = w->hfd, .events = events};

    (void)k->host->poll(&p, 1, 0);
    if (pt && pt->add) {
        poll_wait(pt, &w->queue);
        host_watch_arm(w, k, events);
    }
    return p.revents;
}

/* The bell is always the first one. Without memory nothing is polled this
 * time. */
static size_t
host_watch_fill(struct kernel *k)
{
    size_t n = 1;

    LIST_FOR_EACH(it, &k->host_watches)
        n++;
    if (n > k->cap_pollfds) {
        struct pollfd *p = realloc(k->pollfds, n * sizeof *p);
        if (!p)
            return 0;
        k->pollfds = p;
        k->cap_pollfds = n;
    }
    n = 0;
    k->pollfds[n++] = (struct pollfd){.fd = k->kick_hfd, .events = POLLIN};
    LIST_FOR_EACH(it, &k->host_watches) {
        struct host_watch *w = CONTAINER_OF(it, struct host_watch, link);
        k->pollfds[n++] = (struct pollfd){.fd = w->hfd, .events = w->events};
    }
    return n;
}

/* A watch is removed when it fires: its waiters add it again if they wait
 * again, some of them while they are woken. The loop therefore first collects
 * the watches that have fired. */
static void
host_watch_wake(struct kernel *k)
{
    struct pollfd *p = k->pollfds + 1;
    struct list fired;

    list_init(&fired);
    LIST_FOR_EACH_SAFE(it, &k->host_watches) {
        if (!(p++)->revents)
            continue;
        list_remove(it);
        list_push_back(&fired, it);
    }
    while (!list_is_empty(&fired)) {
        struct host_watch *w =
            CONTAINER_OF(fired.next, struct host_watch, link);
        w->events = 0;
        list_remove(&w->link);
        waitq_wake(&w->queue);
    }
}

void
host_watch_wait(struct kernel *k, int64_t until_ns)
{
    int64_t wait_ns =
        until_ns == NS_NEVER ? NS_NEVER : until_ns - k->host->mono_ns();
    size_t n = host_watch_fill(k);

    if (!n || k->host->poll(k->pollfds, n, wait_ns > 0 ? wait_ns : 0) <= 0)
        return;
    if (k->pollfds[0].revents)
        k->host->bell_clear(k->kick_hfd);
    host_watch_wake(k);
}

size_t
kernel_host_fds(struct kernel *k, const struct pollfd **ret)
{
    size_t n = list_is_empty(&k->host_watches) ? 0 : host_watch_fill(k);

    *ret = n ? k->pollfds + 1 : NULL;
    return n ? n - 1 : 0;
}

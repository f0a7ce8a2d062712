/* Leader/follower hand-over of the event loop. The outer epoll watches the
 * inner one with EPOLLONESHOT, so exactly one thread is woken per hand-over. */
#include "rpc/relief.h"

#include "base/hfd.h"
#include "base/os_thread.h"

#include <stdint.h>
#include <sys/epoll.h>

static bool
relief_watch(int epoll_hfd, int op, int hfd, uint32_t events)
{
    struct epoll_event e = {.events = events};

    return !epoll_ctl(epoll_hfd, op, hfd, &e);
}

static void
listen_for(struct relief *r, uint32_t events)
{
    (void)relief_watch(r->hfd, EPOLL_CTL_MOD, r->events_hfd,
                       events | EPOLLONESHOT);
}

void
relief_init(struct relief *r, const int *hfds, size_t n)
{
    *r = (struct relief){.events_hfd = epoll_create1(EPOLL_CLOEXEC),
                         .hfd = epoll_create1(EPOLL_CLOEXEC)};
    bool is_fine =
        relief_watch(r->hfd, EPOLL_CTL_ADD, r->events_hfd, EPOLLONESHOT);
    for (size_t i = 0; i < n; i++)
        is_fine &= relief_watch(r->events_hfd, EPOLL_CTL_ADD, hfds[i], EPOLLIN);
    if (!is_fine)
        relief_fini(r);
}

/* epoll reports errors without being asked. Files, which cannot be watched,
 * have none. */
void
relief_add_output(struct relief *r, int hfd)
{
    if (r->hfd >= 0)
        (void)relief_watch(r->events_hfd, EPOLL_CTL_ADD, hfd, 0);
}

void
relief_fini(struct relief *r)
{
    hfd_closep(&r->events_hfd);
    hfd_closep(&r->hfd);
}

void
relief_start(struct relief *r, void *(*run)(void *arg), void *arg)
{
    r->has_thread = r->hfd >= 0 && !os_thread_start(&r->thread, run, arg);
}

bool
relief_is_ready(const struct relief *r)
{
    return r->n_waiting > 0;
}

void
relief_lend(struct relief *r)
{
    r->is_lent = true;
    listen_for(r, EPOLLIN);
}

bool
relief_take_back(struct relief *r)
{
    if (!atomic_exchange(&r->is_lent, false))
        return false;
    listen_for(r, 0);
    return true;
}

bool
relief_wait(struct relief *r)
{
    struct epoll_event e;

    r->n_waiting++;
    do
        (void)epoll_wait(r->hfd, &e, 1, -1);
    while (!r->is_over && !atomic_exchange(&r->is_lent, false));
    r->n_waiting--;
    return !r->is_over;
}

void
relief_end(struct relief *r)
{
    r->is_over = true;
    listen_for(r, EPOLLIN);
}

void
relief_join(struct relief *r)
{
    if (r->has_thread)
        (void)pthread_join(r->thread, NULL);
}

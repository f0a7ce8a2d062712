/* Leader/follower hand-over of the event loop: see leader.h.
 *
 * The outer epoll watches the inner one with EPOLLONESHOT, so exactly one
 * thread is woken for each time that the loop is lent. */
#include "rpc/leader.h"

#include "base/hfd.h"
#include "base/os_thread.h"
#include "rpc/slot.h"

#include <stdint.h>
#include <sys/epoll.h>

/* --- two threads */

static bool
leader_watch(int epoll_hfd, int hfd, uint32_t events)
{
    struct epoll_event e = {.events = events};

    return !epoll_ctl(epoll_hfd, EPOLL_CTL_ADD, hfd, &e);
}

/* The inner epoll reports whether there is anything to do. The outer one is
 * armed only while the loop is lent. */
void
leader_init(struct leader *l, const int *hfds, size_t n)
{
    *l = (struct leader){.events_hfd = epoll_create1(EPOLL_CLOEXEC),
                         .hfd = epoll_create1(EPOLL_CLOEXEC),
                         .holder = pthread_self()};
    bool is_fine = leader_watch(l->hfd, l->events_hfd, EPOLLONESHOT);
    for (size_t i = 0; i < n; i++)
        is_fine &= leader_watch(l->events_hfd, hfds[i], EPOLLIN);
    if (!is_fine)
        leader_fini(l);
}

/* epoll reports errors without being asked. Files, which cannot be watched,
 * have none. */
void
leader_add_output(struct leader *l, int hfd)
{
    if (l->hfd >= 0)
        (void)leader_watch(l->events_hfd, hfd, 0);
}

void
leader_fini(struct leader *l)
{
    hfd_closep(&l->events_hfd);
    hfd_closep(&l->hfd);
}

/* Lets the follower wake for events of the loop, or stops that. */
static void
leader_arm(struct leader *l, uint32_t events)
{
    struct epoll_event e = {.events = events | EPOLLONESHOT};

    (void)epoll_ctl(l->hfd, EPOLL_CTL_MOD, l->events_hfd, &e);
}

/* Returns false if the other thread has the loop. */
static bool
leader_take_back(struct leader *l)
{
    if (!atomic_exchange(&l->is_lent, false))
        return false;
    leader_arm(l, 0);
    l->holder = pthread_self();
    return true;
}

/* Waits until this thread has the loop. Returns false at the end. */
static bool
leader_follow(struct leader *l)
{
    struct epoll_event e;

    l->n_followers++;
    do
        (void)epoll_wait(l->hfd, &e, 1, -1);
    while (!l->is_over && !atomic_exchange(&l->is_lent, false));
    l->n_followers--;
    if (l->is_over)
        return false;
    l->holder = pthread_self();
    return true;
}

/* One of the two threads, until the other or this one ends the loop. */
static void
leader_work(struct leader *l)
{
    enum leader_step next = leader_is_here(l) ? LEADER_GOES_ON : LEADER_LENT;

    while (next != LEADER_OVER) {
        if (next == LEADER_LENT && !leader_follow(l))
            return;
        next = l->step(l->arg);
    }
    l->is_over = true;
    leader_arm(l, EPOLLIN);
}

static void *
leader_thread(void *arg)
{
    leader_work(arg);
    return NULL;
}

/* The thread that started the loop also ends it, whichever thread had it last:
 * the caller frees everything then. */
void
leader_loop(struct leader *l, leader_step_fn *step, void *arg)
{
    l->step = step;
    l->arg = arg;
    l->has_thread =
        l->hfd >= 0 && !os_thread_start(&l->thread, leader_thread, l);
    leader_work(l);
    if (l->has_thread)
        (void)pthread_join(l->thread, NULL);
    l->holder = pthread_self();
}

/* --- one request */

/* The follower wakes for everything that arrives from now on. Nothing that is
 * already there may need the loop: no other request, line or output, and no
 * request of ours that has a deadline.
 *
 * After the answer, wsand_leave saves the state of the shell, which takes a
 * while. If this is the only sandbox, nobody else could have to wait for that.
 * So this thread first gets the loop back, and the follower need not wake for
 * the next request. */
bool
leader_run(OWN struct call *q)
{
    struct server *srv = server_of(q);
    struct leader *l = &srv->leader;
    struct wsand_sandbox *sb = slot_of(q)->sb;
    bool is_only = !srv->n_slots;

    if (srv->peer.n_calls != 1 || q->msg->is_batch ||
        q->method->flags & BESIDE || srv->is_ending || !l->n_followers ||
        !frame_is_empty(&srv->in) || !backlog_is_empty(&srv->peer.waiting) ||
        writer_has_more(&srv->out) || srv->n_callbacks || wsand_enter(sb) < 0)
        return false;
    l->holder = 0;
    l->is_lent = true;
    leader_arm(l, EPOLLIN);
    job_run(sb, q);
    bool is_back = is_only && leader_take_back(l);
    wsand_leave(sb);
    if (!is_back)
        (void)leader_take_back(l);
    return true;
}

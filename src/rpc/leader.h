/* Leader/follower: two threads that share the event loop of the server.
 *
 * Problem: waking another thread for each request would take longer than most
 * requests.
 *
 * Idea: the thread that has the loop (the leader) runs a request itself if
 * there is nothing else to do, and lends the loop meanwhile. When input
 * arrives, the other thread (the follower) wakes and becomes the leader. The
 * thread with the request takes the loop back when the request is done, or
 * becomes the follower if the loop is gone. If nothing arrives, no thread is
 * woken at all.
 *
 * It is right because `is_lent` is changed by atomic exchange: exactly one
 * thread gets the loop back. A thread that has lent the loop touches no state
 * of the loop until it leads again, so functions between the loop and
 * leader_run only return after leader_run. */
#ifndef RPC_LEADER_H
#define RPC_LEADER_H

#include "base/own.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct call;

/* The state of the loop after one of its iterations. */
enum leader_step { LEADER_GOES_ON, LEADER_LENT, LEADER_OVER };
typedef enum leader_step leader_step_fn(void *arg);

struct leader {
    int events_hfd; /* an epoll of all that the loop waits for */
    /* Reports an event of `events_hfd` once after the loop was lent. */
    int hfd;
    bool has_thread;
    pthread_t thread;
    leader_step_fn *step;
    void *arg;
    _Atomic pthread_t holder; /* the thread that has the loop; 0: it is lent */
    atomic_int n_followers;   /* threads that wait for the loop */
    atomic_bool is_lent;      /* the thread that clears it has the loop */
    atomic_bool is_over;
};

/* Makes this thread the leader. hfds: the descriptors that the loop waits for.
 * If epoll cannot watch them, the loop is never lent. */
void leader_init(struct leader *l, const int *hfds, size_t n);
/* The loop also waits for errors of hfd, which are the end of its reader. */
void leader_add_output(struct leader *l, int hfd);
void leader_fini(struct leader *l);

/* Calls step(arg), on the thread that has the loop, until it returns
 * LEADER_OVER. One of `hfds` must be ready then and stay so. Returns on the
 * calling thread, which has the loop. */
void leader_loop(struct leader *l, leader_step_fn *step, void *arg);
/* Returns true if the calling thread has the loop. */
static inline bool
leader_is_here(const struct leader *l)
{
    return l->holder == pthread_self();
}

/* Runs a call, the only one, on this thread if its sandbox is idle, and
 * lends the loop meanwhile. Returns true if q was run; then leader_is_here
 * tells whether this thread has the loop again. */
bool leader_run(OWN struct call *q);

#endif

/* Leader/follower: two threads that share the event loop.
 *
 * Problem: waking another thread for each job would take longer than most jobs.
 *
 * Idea: the thread with the loop (the leader) runs a job itself if there is
 * nothing else to do, and lends the loop meanwhile. When input arrives, the
 * other thread (the follower) wakes and becomes the leader. The thread with the
 * job becomes the follower when the job is done. If nothing arrives, no thread
 * is woken at all. */
#ifndef RPC_RELIEF_H
#define RPC_RELIEF_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct relief {
    int events_hfd; /* an epoll of all that the loop waits for */
    /* reports an event of `events_hfd` once after it was lent */
    int hfd;
    bool has_thread;
    pthread_t thread;
    atomic_int n_waiting; /* threads, for the loop of the other */
    atomic_bool is_lent;  /* whoever changes that has the loop */
    atomic_bool is_over;
};

/* hfds: what the loop waits for. Where they cannot be waited for in this way,
 * the loop is never lent. */
void relief_init(struct relief *r, const int *hfds, size_t n);
/* The loop also waits for the end of whoever reads from hfd. */
void relief_add_output(struct relief *r, int hfd);
void relief_fini(struct relief *r);

/* The second thread, which calls run(arg); without it, nothing is lent. */
void relief_start(struct relief *r, void *(*run)(void *arg), void *arg);

/* By the thread that has the loop: could the other take it? Then it may be
 * lent. */
bool relief_is_ready(const struct relief *r);
void relief_lend(struct relief *r);
/* Afterwards. False: the other thread has it. */
bool relief_take_back(struct relief *r);
/* By the other thread: true when it has the loop, false at the end. */
bool relief_wait(struct relief *r);
/* By the thread that has the loop, when one of `hfds` is ready and stays so:
 * the other's relief_wait returns false. */
void relief_end(struct relief *r);
/* The second thread has ended. Not by itself. */
void relief_join(struct relief *r);

#endif

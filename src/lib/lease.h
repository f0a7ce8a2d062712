/* The lease: the exclusive right to use a sandbox.
 *
 * Calls and jobs get the lease in order of arrival; between them, background
 * processes have it. A call within a job, or within another call, already has
 * it. Work that must not wait for the lease is done beside it, by a second kind
 * of jobs, and by errands to the thread that has the lease. Lock order:
 * lease.lock, then that of the crews. */
#ifndef LIB_LEASE_H
#define LIB_LEASE_H

#include "base/list.h"
#include "base/own.h"
#include "lib/crew.h"

#include <pthread.h>
#include <stdbool.h>

struct queued;
struct wsand_error;
struct wsand_sandbox;

enum lease_state { LEASE_FREE, LEASE_HELD, LEASE_BACKGROUND };

/* The lease of one sandbox. `lock` guards all members that are neither atomic
 * nor marked as the owner's. */
struct lease {
    pthread_mutex_t lock;
    pthread_cond_t left; /* for lease_close */
    enum lease_state state;
    struct list queue;  /* of struct queued, oldest first */
    unsigned n_calls;   /* calls that wait, or hold the sandbox */
    struct list beside; /* jobs that hold the sandbox and wait for a thread */
    /* A job that was given the lease and waits for a thread of the crew. */
    OWN struct queued *job;

    _Atomic pthread_t owner; /* the thread with the lease, or 0 */
    unsigned depth;          /* the owner's: calls within calls */
    _Atomic bool is_wanted;  /* background processes should yield */
    _Atomic bool is_closed;

    struct crew_work jobs, background;
    struct alarm alarm; /* when background processes need CPU time */
};

/* The lease is free at first. */
void lease_init(struct lease *t, struct crews *p);
/* Refuses further calls, and waits until all calls and jobs have ended. */
void lease_close(struct wsand_sandbox *sb);
/* Frees the locks, after lease_close or if there was no call yet. */
void lease_fini(struct lease *t);

/* Waits for the lease, and returns sb. Returns NULL with an error if the
 * sandbox is being freed. */
struct wsand_sandbox *sandbox_enter(struct wsand_sandbox *sb,
                                    struct wsand_error *err);
/* Ends the lease of this thread. */
void lease_leave(struct wsand_sandbox *sb);

/* Like sandbox_enter, but succeeds only if at most background processes have
 * the lease. */
bool sandbox_try_enter(struct wsand_sandbox *sb);

/* Keeps the sandbox from being freed until it is released, for work beside the
 * lease. */
int sandbox_hold(struct wsand_sandbox *sb, struct wsand_error *err);
void sandbox_release(struct wsand_sandbox *sb);
/* Calls fn(sb, arg) on the thread that runs the sandbox, between time slices of
 * its processes, and waits for its result. The caller holds the sandbox and
 * does not have the lease. */
int sandbox_errand(struct wsand_sandbox *sb,
                   int (*fn)(struct wsand_sandbox *sb, void *arg,
                             struct wsand_error *err),
                   void *arg, struct wsand_error *err);

/* Wakes sb from any thread, so that it handles its messages soon. If nobody has
 * the lease, a background thread gets it for that. */
void sandbox_wake(struct wsand_sandbox *sb);

/* Returns -ECANCELED with the message that the sandbox is being freed. */
int lease_refuse(struct wsand_error *err);
/* For lease_close, with the lock held: does one remaining piece of work beside
 * the lease, without the lock. Returns false if there is none. */
bool beside_finish(struct wsand_sandbox *sb);

/* Has the lease until the end of the scope. The function fails if the sandbox
 * is being freed. */
#define SANDBOX_LEASE(sb, err)                                \
    CLEANUP(sandbox_leavep)                                   \
    struct wsand_sandbox *lease_of_ = sandbox_enter(sb, err); \
    if (!lease_of_)                                           \
    return -ECANCELED

#endif

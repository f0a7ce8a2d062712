/* The turn: the exclusive right to use a sandbox.
 *
 * Calls and jobs get the turn in order of arrival; between them, background
 * processes have it. A call within a job, or within another call, already has
 * it. Work that must not wait for the turn is done beside it, by a second kind
 * of jobs, and by errands to the thread that has the turn. Lock order:
 * turn.lock, then the pool's. */
#ifndef LIB_TURN_H
#define LIB_TURN_H

#include "base/list.h"
#include "base/own.h"
#include "lib/pool.h"

#include <pthread.h>
#include <stdbool.h>

struct queued;
struct wsand_error;
struct wsand_sandbox;

enum turn_state { TURN_FREE, TURN_USED, TURN_BACKGROUND };

/* The turn of one sandbox. `lock` guards all members that are neither atomic
 * nor marked as the owner's. */
struct turn {
    pthread_mutex_t lock;
    pthread_cond_t left; /* for turn_close */
    enum turn_state state;
    struct list queue; /* of struct queued, oldest first */
    unsigned n_calls;  /* that wait, or hold the sandbox */
    /* jobs that hold the sandbox and wait for a thread */
    struct list beside;
    /* A job that was given the turn and waits for a thread of the pool. */
    OWN struct queued *job; /* has the turn, and waits for a thread */

    _Atomic pthread_t owner; /* the thread with the turn, or 0 */
    unsigned depth;          /* the owner's: calls within calls */
    _Atomic bool is_wanted;  /* background processes should yield */
    _Atomic bool is_closed;

    struct work jobs, background;
    struct alarm alarm; /* when background processes need CPU time */
};

void turn_init(struct turn *t, struct pool *p);
/* Refuses further calls, and waits until all calls and jobs have ended. */
void turn_close(struct wsand_sandbox *sb);
/* Frees the locks, after turn_close or if there was no call yet. */
void turn_fini(struct turn *t);

/* Waits for the turn, and returns sb. Returns NULL with an error if the sandbox
 * is being freed. */
struct wsand_sandbox *sandbox_enter(struct wsand_sandbox *sb,
                                    struct wsand_error *err);
void sandbox_leave(struct wsand_sandbox *sb); /* accepts NULL */
DEFINE_CLEANUP(struct wsand_sandbox *, sandbox_leave)

/* Like sandbox_enter, but succeeds only if at most background processes have
 * the turn. */
bool sandbox_try_enter(struct wsand_sandbox *sb);

/* Keeps the sandbox from being freed until it is released, for work beside the
 * turn. */
int sandbox_hold(struct wsand_sandbox *sb, struct wsand_error *err);
void sandbox_release(struct wsand_sandbox *sb);
/* Calls fn(sb, arg) on the thread that runs the sandbox, between time slices of
 * its processes, and waits for its result. The caller holds the sandbox and
 * does not have the turn. */
int sandbox_errand(struct wsand_sandbox *sb,
                   int (*fn)(struct wsand_sandbox *sb, void *arg,
                             struct wsand_error *err),
                   void *arg, struct wsand_error *err);

/* Wakes sb from any thread, so that it handles its messages soon. If nobody has
 * the turn, a background thread gets it for that. */
void sandbox_wake(struct wsand_sandbox *sb);

/* Returns -ECANCELED with the message that the sandbox is being freed. */
int turn_refuse(struct wsand_error *err);
/* For turn_close, with the lock held: does one remaining piece of work beside
 * the turn, without the lock. Returns false if there is none. */
bool beside_finish(struct wsand_sandbox *sb);

/* Has the turn until the end of the scope. The function fails if the sandbox is
 * being freed. */
#define SANDBOX_TURN(sb, err)                                \
    CLEANUP(sandbox_leavep)                                  \
    struct wsand_sandbox *turn_of_ = sandbox_enter(sb, err); \
    if (!turn_of_)                                           \
    return -ECANCELED

#endif

/* Whose turn it is to use a sandbox.
 *
 * Calls and jobs get it in the order in which they came; between them, it is
 * the background processes'. A call within a job, or within another call, has
 * it already. What must not wait for it is done beside it: by jobs of another
 * kind, and errands to the thread that has it. Lock order: turn.lock, then the
 * pool's. */
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

struct turn {
    pthread_mutex_t lock;
    pthread_cond_t left; /* for turn_close */
    enum turn_state state;
    struct list queue;      /* of struct queued, the oldest first */
    unsigned n_calls;       /* that wait, or hold the sandbox */
    struct list beside;     /* jobs that hold it and wait for a thread */
    OWN struct queued *job; /* has the turn, and waits for a thread */

    _Atomic pthread_t owner; /* that has the turn, or 0 */
    unsigned depth;          /* the owner's: calls within calls */
    _Atomic bool is_wanted;  /* background processes should leave */
    _Atomic bool is_closed;

    struct work jobs, background;
    struct alarm alarm; /* when background processes need time */
};

void turn_init(struct turn *t, struct pool *p);
/* No call gets in any more; waits until all are out, and jobs done. */
void turn_close(struct wsand_sandbox *sb);
/* After it, or where no call was made yet. */
void turn_fini(struct turn *t);

/* Waits for the turn, and returns sb; NULL and an error when the sandbox is
 * being freed. */
struct wsand_sandbox *sandbox_enter(struct wsand_sandbox *sb,
                                    struct wsand_error *err);
void sandbox_leave(struct wsand_sandbox *sb); /* NULL is fine */
DEFINE_CLEANUP(struct wsand_sandbox *, sandbox_leave)

/* The same where nobody has to be waited for but background processes. */
bool sandbox_try_enter(struct wsand_sandbox *sb);

/* For what is done while others have the turn: the sandbox is not freed before
 * it is released. */
int sandbox_hold(struct wsand_sandbox *sb, struct wsand_error *err);
void sandbox_release(struct wsand_sandbox *sb);
/* Has fn(sb, arg) called on the thread that runs the sandbox, between turns of
 * its processes, and waits for its result. The caller holds the sandbox, and
 * does not have the turn. */
int sandbox_errand(struct wsand_sandbox *sb,
                   int (*fn)(struct wsand_sandbox *sb, void *arg,
                             struct wsand_error *err),
                   void *arg, struct wsand_error *err);

/* From any thread: what was sent to sb is taken, now or soon. */
void sandbox_wake(struct wsand_sandbox *sb);

/* -ECANCELED and a message: the sandbox is being freed. */
int turn_refuse(struct wsand_error *err);
/* For turn_close, with the lock held: does something that is left to be done
 * beside the turn, without the lock; false: there is nothing. */
bool beside_finish(struct wsand_sandbox *sb);

/* For the length of a scope; the function fails where the sandbox is being
 * freed. */
#define SANDBOX_TURN(sb, err)                                \
    CLEANUP(sandbox_leavep)                                  \
    struct wsand_sandbox *turn_of_ = sandbox_enter(sb, err); \
    if (!turn_of_)                                           \
    return -ECANCELED

#endif

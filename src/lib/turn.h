/* Whose turn it is to use a sandbox.
 *
 * Calls and jobs get it in the order in which they came; between them, it is
 * the background processes'. A call within a job, or within another call, has
 * it already. Lock order: turn.lock, then the pool's. */
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
    unsigned n_calls;       /* that wait */
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

/* From any thread: what was sent to sb is taken, now or soon. */
void sandbox_wake(struct wsand_sandbox *sb);

/* For the length of a scope; the function fails where the sandbox is being
 * freed. */
#define SANDBOX_TURN(sb, err)                                \
    CLEANUP(sandbox_leavep)                                  \
    struct wsand_sandbox *turn_of_ = sandbox_enter(sb, err); \
    if (!turn_of_)                                           \
    return -ECANCELED

#endif

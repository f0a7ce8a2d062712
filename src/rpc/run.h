/* The runs of a sandbox that have no answer yet, so that they can be cancelled
 * and given more window. A run is known from the time its line was read. */
#ifndef RPC_RUN_H
#define RPC_RUN_H

#include "rpc/slot.h"

/* Adds a call of `run` to its slot; other calls are left alone. On the loop. */
void run_register(struct call *q);
/* Begins a run. False: it was cancelled before. From now on, `cancel` must stop
 * the command in the library. */
static inline bool
run_begin(struct call *q)
{
    enum run_phase waits = RUN_WAITS;

    return atomic_compare_exchange_strong(&job_of(q)->run_phase, &waits,
                                          RUN_RUNS);
}
/* Forgets a run that has ended, or will not begin. */
void run_forget(struct call *q);
/* Sets the stream that run_add_window is about; NULL: none. */
void run_set_stream(struct call *q, struct stream *stream);

/* Lets the run with this id, if it has not ended, send so many bytes more. */
void run_add_window(struct slot *slot, const char *id, int64_t bytes);
/* Cancels the run with this id, or (NULL) the oldest, also if its line waits.
 * False: there is none. On the loop. */
bool run_cancel(struct slot *slot, const char *id);
/* Cancels all runs. */
void run_cancel_all(struct server *srv);

#endif

/* Runs without an answer.
 *
 * The order of cancelling: a run is first in a waiting line, then registered,
 * then begun. Registering asks the backlog whether the run was cancelled in its
 * line, under the lock that `cancel` takes, so a run is found at each moment
 * until it has ended. Beginning and cancelling exchange the phase: either the
 * run does not begin, or `cancel` sees that it has, and stops its command. */
#include "rpc/run.h"

#include "rpc/dispatch.h"
#include "rpc/methods.h"
#include "wire/stream.h"

/* The name of the sandbox is only needed if a cancelled request can be meant.
 */
void
run_register(struct call *q)
{
    struct server *srv = server_of(q);
    struct slot *slot = slot_of(q);
    struct job *j = job_of(q);
    char name[SLOT_NAME_BYTES];

    if (q->method->handle != do_run)
        return;
    pthread_mutex_lock(&srv->lock);
    if (!backlog_is_idle(&srv->peer.waiting)) {
        slot_name(slot, name);
        if (backlog_was_cancelled(&srv->peer.waiting, name, q->id))
            j->run_phase = RUN_CANCELLED;
    }
    list_push_back(&slot->runs, &j->run_link);
    pthread_mutex_unlock(&srv->lock);
}

void
run_forget(struct call *q)
{
    struct server *srv = server_of(q);
    struct job *j = job_of(q);

    pthread_mutex_lock(&srv->lock);
    list_remove(&j->run_link);
    pthread_mutex_unlock(&srv->lock);
}

/* The stream is on the stack of the handler, and is reset under the lock
 * before it is gone. */
void
run_set_stream(struct call *q, struct stream *stream)
{
    struct server *srv = server_of(q);

    pthread_mutex_lock(&srv->lock);
    job_of(q)->stream = stream;
    pthread_mutex_unlock(&srv->lock);
}

/* With the lock held. */
static struct job *
run_find(const struct slot *slot, const char *id)
{
    LIST_FOR_EACH(it, &slot->runs) {
        struct job *j = CONTAINER_OF(it, struct job, run_link);
        if (!id || (j->call.id && id_equals(j->call.id, id)))
            return j;
    }
    return NULL;
}

void
run_add_window(struct slot *slot, const char *id, int64_t bytes)
{
    pthread_mutex_lock(&slot->srv->lock);
    struct job *j = run_find(slot, id);
    if (j && j->stream)
        stream_add_window(j->stream, bytes);
    pthread_mutex_unlock(&slot->srv->lock);
}

/* --- cancelling */

/* A run that has not begun will not. With the lock held, so that the run is not
 * forgotten, and its sandbox is still that of the job. */
static void
run_mark(struct job *j)
{
    if (atomic_exchange(&j->run_phase, RUN_CANCELLED) == RUN_RUNS)
        wsand_cancel(j->sb);
}

/* A waiting line was not checked yet: every member may be missing or of
 * another type. */
static bool
run_is_of(const void *arg, const struct method *m, const struct json *params)
{
    const struct slot *slot = arg;
    const struct json *name =
        m->flags & LINE ? NULL : json_get(params, "sandboxId");
    uint64_t id =
        json_is(name, JSON_STRING) ? dispatch_sandbox_id(json_text(name)) : 0;

    return m->handle == do_run && id == slot->id;
}

/* Registered runs are older than those whose lines wait. */
bool
run_cancel(struct slot *slot, const char *id)
{
    char name[SLOT_NAME_BYTES];
    const struct waiting_run w = {id, name, run_is_of, slot};

    pthread_mutex_lock(&slot->srv->lock);
    struct job *j = run_find(slot, id);
    if (j)
        run_mark(j);
    pthread_mutex_unlock(&slot->srv->lock);
    slot_name(slot, name);
    return j || peer_cancel_waiting(&slot->srv->peer, &w);
}

/* Runs that have not begun are marked, and answered when their turn in the
 * queue comes. */
static void
run_cancel_slot(struct slot *slot)
{
    pthread_mutex_lock(&slot->srv->lock);
    LIST_FOR_EACH(it, &slot->runs)
        run_mark(CONTAINER_OF(it, struct job, run_link));
    pthread_mutex_unlock(&slot->srv->lock);
}

void
run_cancel_all(struct server *srv)
{
    slot_each(srv, run_cancel_slot);
}

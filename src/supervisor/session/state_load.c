/* Sends the state of a session to its worker, in pieces: the next one is read
 * from the store when the worker has received the main part of the last. Memory
 * is therefore bounded, however large a state is. */
#include "supervisor/session/state_load.h"

#include "store/thread.h"
#include "supervisor/session/life.h"
#include "supervisor/session/not_copied.h"
#include "supervisor/session/repair.h"
#include "supervisor/session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 256 << 10 };

/* One job that is posted again for each piece; `place` is the position. */
struct load_job {
    struct store_job job;
    struct life *l;
    char session[SESSION_ID_BYTES];
    struct store_cursor cursor;
    struct buf frames;
    bool is_begun; /* its first piece was read */
};

static int
state_load_job_run(struct store *store, struct store_job *j)
{
    struct load_job *c = CONTAINER_OF(j, struct load_job, job);

    return store_read(store, c->session, PIECE_BYTES, &c->cursor, &c->frames);
}

static void
load_job_free(struct load_job *c)
{
    buf_fini(&c->frames);
    free(c);
}

/* Posts the next read, if the worker has read enough of the last piece. */
void
state_load_more(struct life *l)
{
    if (l->load.phase != LOAD_WAITING ||
        outbox_queued(&l->load.out) > PIECE_BYTES)
        return;
    l->load.phase = LOAD_READING;
    store_thread_post(l->s->sv->store_thread, &l->load.job->job);
}

/* Damage is repaired once. All other errors end the life. */
static void
state_load_job_fail(struct life *l, int error, const char *why)
{
    l->load.phase = LOAD_NONE;
    if (error != -EBADMSG || repair_begin(l) != 0)
        life_kill(l, SESSION_error, CAUSE_failed, "its state: %s", why);
}

/* The life may have been reaped while the store was reading. It is then kept
 * alive by this job only. */
static void
state_load_job_done(struct store_job *j, int error)
{
    struct load_job *c = CONTAINER_OF(j, struct load_job, job);
    struct life *l = c->l;
    bool is_over = error < 0 || c->cursor.is_done || life_is_reaped(l);

    l->load.phase = is_over ? LOAD_NONE : LOAD_WAITING;
    if (is_over)
        l->load.job = NULL;
    if (error == 0) {
        outbox_put(&l->load.out, c->frames.p, c->frames.len);
        if (!c->is_begun)
            session_keep_not_copied(l->s, c->frames.p, c->frames.len);
        c->is_begun = true;
        c->frames.len = 0;
    } else if (!life_is_reaped(l)) {
        state_load_job_fail(l, error, j->why);
    }
    if (is_over)
        load_job_free(c);
    if (life_is_reaped(l)) {
        life_job_done(l);
        return;
    }
    state_load_more(l);
    commits_watch(l);
}

/* The job exists until the last piece was read, or the loading fails. */
void
state_load_begin(struct life *l)
{
    struct load_job *c = calloc(1, sizeof *c);

    if (!c) {
        life_kill(l, SESSION_error, CAUSE_failed, "out of memory");
        return;
    }
    *c = (struct load_job){.job = {.kind = STORE_JOB_READ,
                                   .run = state_load_job_run,
                                   .done = state_load_job_done},
                           .l = l};
    memcpy(c->session, l->s->id, sizeof c->session);
    buf_init(&c->frames, SIZE_MAX);
    l->load.job = c;
    l->load.phase = LOAD_WAITING;
    state_load_more(l);
}

/* While this is true, the store thread has a job that refers to the life. */
bool
state_load_is_busy(const struct life *l)
{
    return l->load.phase == LOAD_READING || l->load.phase == LOAD_REPAIRING ||
           l->load.phase == LOAD_FORGOTTEN;
}

void
state_load_close(struct life *l)
{
    if (l->load.job)
        load_job_free(STEAL(l->load.job));
    outbox_fini(&l->load.out);
}

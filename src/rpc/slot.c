/* Sandboxes by their ids. */
#include "rpc/rpc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slot *
slot_new(struct server *srv, uint64_t id, struct config *config)
{
    struct slot *slot = calloc(1, sizeof *slot);

    if (!slot)
        return NULL;
    *slot = (struct slot){.srv = srv,
                          .id = id,
                          .created_ms = time_wall_ms(),
                          .config = config_get(config)};
    list_init(&slot->link);
    list_init(&slot->pending);
    list_init(&slot->processes);
    list_init(&slot->runs);
    if (id) {
        list_push_back(&srv->slots[id % SLOT_BUCKETS], &slot->link);
        srv->n_slots++;
    }
    return slot;
}

void
slot_free(struct slot *slot)
{
    if (slot->id)
        slot->srv->n_slots--;
    list_remove(&slot->link);
    process_free_all(slot);
    transfer_free(slot->export);
    transfer_free(slot->import);
    config_put(slot->config);
    free(slot->label);
    free(slot);
}

struct slot *
slot_find(struct server *srv, uint64_t id)
{
    LIST_FOR_EACH(it, &srv->slots[id % SLOT_BUCKETS]) {
        struct slot *slot = CONTAINER_OF(it, struct slot, link);
        if (slot->id == id && slot->phase != SLOT_DESTROYED)
            return slot;
    }
    return NULL;
}

void
slot_name(const struct slot *slot, char ret[24])
{
    (void)snprintf(ret, 24, slot->id ? "%" PRIu64 : "root", slot->id);
}

/* --- serving */

void
request_handle(struct wsand_sandbox *sb, void *arg)
{
    struct request *q = arg;

    q->sb = sb;
    if (q->srv->is_refusing) {
        run_forget(q);
        answer_error(q, SANDBOX_ERROR, "ECANCELED: the server is ending");
        return;
    }
    q->is_job = !(q->method->flags & BESIDE);
    q->method->handle(q);
}

static void
slot_handle(struct wsand_sandbox *sb, void *arg)
{
    struct request *q = arg;

    q->sb = sb;
    q->method->handle(q);
}

/* Beside a command, on the thread that runs it: the answer is sent by this one,
 * so that the command does not wait for a client that does not read. */
static void
slot_visit(struct wsand_sandbox *sb, void *arg)
{
    struct request *q = arg;
    struct wsand_error err = {0};

    q->is_job = !(q->method->flags & READS);
    q->is_held = true;
    int r = wsand_beside(sb, slot_handle, q, &err);
    q->is_held = false;
    q->is_job = false;
    if (r < 0)
        answer_failure(q, &err);
    else
        answer_held(q);
}

static void
slot_post(OWN struct request *q)
{
    struct wsand_sandbox *sb = q->slot->sb;
    struct wsand_error err = {0};
    int r;

    if (!request_is_line(q) && param_bool(q, "concurrent"))
        r = wsand_post_beside(sb, slot_visit, q, &err);
    else if (q->method->flags & BESIDE)
        r = wsand_post_beside(sb, request_handle, q, &err);
    else
        r = wsand_post(sb, request_handle, q, &err);
    if (r == 0)
        return;
    run_forget(q);
    answer_error(q, INTERNAL_ERROR, "Internal error: %s", err.message);
}

static void
slot_serve(struct slot *slot, OWN struct request *q)
{
    if (q->method->flags & AT_ONCE) {
        q->sb = slot->sb;
        q->method->handle(q);
    } else {
        slot_post(q);
    }
}

static void
slot_refuse(struct slot *slot, OWN struct request *q)
{
    run_forget(q);
    if (slot->id)
        answer_error(q, INVALID_PARAMS, "Unknown sandboxId: %" PRIu64,
                     slot->id);
    else
        answer_error(q, INVALID_REQUEST, "Sandbox not created");
}

static void
slot_refuse_offloaded(OWN struct request *q)
{
    run_forget(q);
    answer_error(q, SANDBOX_ERROR,
                 "EAGAIN: the sandbox is offloaded; rehydrate it");
}

/* A run can be cancelled from the time it was read. */
static void
slot_add_run(struct slot *slot, struct request *q)
{
    if (q->method->handle != do_run)
        return;
    pthread_mutex_lock(&slot->srv->lock);
    q->is_cancelled = input_was_cancelled(slot->srv, slot, q->id);
    list_push_back(&slot->runs, &q->run_link);
    pthread_mutex_unlock(&slot->srv->lock);
}

static void
slot_route(struct slot *slot, OWN struct request *q)
{
    switch (slot->phase) {
    case SLOT_CREATING:
        list_push_back(&slot->pending, &q->link);
        break;
    case SLOT_READY:
        slot_serve(slot, q);
        break;
    case SLOT_OFFLOADED:
        if (q->method->flags & (ROOT | EARLY) ||
            q->method->handle == do_rehydrate)
            q->method->handle(q);
        else
            slot_refuse_offloaded(q);
        break;
    case SLOT_DESTROYED:
        slot_refuse(slot, q);
        break;
    }
}

void
slot_submit(struct slot *slot, OWN struct request *q)
{
    q->slot = slot;
    slot_add_run(slot, q);
    if (slot->phase != SLOT_READY || q->method->flags & AT_ONCE ||
        !leader_run(q))
        slot_route(slot, q);
}

void
slot_settle(struct slot *slot, enum slot_phase phase)
{
    struct list waiting;

    slot->phase = phase;
    process_resume_all(slot);
    list_move(&slot->pending, &waiting);
    LIST_FOR_EACH_SAFE(it, &waiting) {
        struct request *q = CONTAINER_OF(it, struct request, link);
        list_remove(it);
        slot_route(slot, q);
    }
}

/* --- creating and freeing */

struct creation {
    struct work work;
    struct slot *slot;
    created_fn *done;
    void *arg;
    struct wsand_sandbox *sb;
    struct wsand_error err;
};

static void
slot_created(struct work *w)
{
    struct creation *m = CONTAINER_OF(w, struct creation, work);

    m->done(m->arg, m->sb, &m->err);
    free(m);
}

static void
slot_create_job(void *arg)
{
    struct creation *m = arg;
    struct server *srv = m->slot->srv;

    if (config_create_sandbox(m->slot->config, &m->sb, &m->err) < 0)
        m->sb = NULL;
    loop_post(srv, &m->work, slot_created);
}

void
slot_create(struct slot *slot, created_fn *done, void *arg)
{
    struct creation *m = calloc(1, sizeof *m);
    struct wsand_error err = {0};

    if (!m) {
        (void)fail(&err, ENOMEM, "out of memory");
        done(arg, NULL, &err);
        return;
    }
    *m = (struct creation){.slot = slot, .done = done, .arg = arg};
    if (wsand_runtime_post(slot->srv->rt, slot_create_job, m, &m->err) < 0)
        slot_created(&m->work);
}

void
slot_create_here(struct slot *slot, created_fn *done, void *arg)
{
    struct wsand_error err = {0};
    struct wsand_sandbox *sb = NULL;

    if (config_create_sandbox(slot->config, &sb, &err) < 0)
        sb = NULL;
    done(arg, sb, &err);
}

struct freeing {
    struct server *srv;
    struct wsand_sandbox *sb;
    struct work *work;
    work_fn *done;
};

static void
slot_free_job(void *arg)
{
    struct freeing *f = arg;

    wsand_sandbox_free(f->sb);
    loop_post(f->srv, f->work, f->done);
    free(f);
}

void
sandbox_free_later(struct server *srv, struct wsand_sandbox *sb, struct work *w,
                   work_fn *done)
{
    struct freeing *f = malloc(sizeof *f);

    if (f) {
        *f = (struct freeing){srv, sb, w, done};
        if (wsand_runtime_post(srv->rt, slot_free_job, f, NULL) == 0)
            return;
        free(f);
    }
    wsand_sandbox_free(sb);
    loop_post(srv, w, done); /* behind what freeing it has posted */
}

/* Sandboxes by their ids. */
#include "rpc/rpc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct box *
box_new(struct server *srv, uint64_t id, struct config *config)
{
    struct box *box = calloc(1, sizeof *box);

    if (!box)
        return NULL;
    *box = (struct box){.srv = srv,
                        .id = id,
                        .created_ms = time_wall_ms(),
                        .config = config_get(config)};
    list_init(&box->link);
    list_init(&box->pending);
    list_init(&box->processes);
    list_init(&box->runs);
    if (id) {
        list_push_back(&srv->boxes[id % BOX_BUCKETS], &box->link);
        srv->n_boxes++;
    }
    return box;
}

void
box_free(struct box *box)
{
    if (box->id)
        box->srv->n_boxes--;
    list_remove(&box->link);
    process_free_all(box);
    transfer_free(box->export);
    transfer_free(box->import);
    config_put(box->config);
    free(box->label);
    free(box);
}

struct box *
box_find(struct server *srv, uint64_t id)
{
    LIST_FOR_EACH(it, &srv->boxes[id % BOX_BUCKETS]) {
        struct box *box = CONTAINER_OF(it, struct box, link);
        if (box->id == id && box->state != BOX_GONE)
            return box;
    }
    return NULL;
}

void
box_name(const struct box *box, char ret[24])
{
    (void)snprintf(ret, 24, box->id ? "%" PRIu64 : "root", box->id);
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
handle(struct wsand_sandbox *sb, void *arg)
{
    struct request *q = arg;

    q->sb = sb;
    q->method->handle(q);
}

/* Beside a command, on the thread that runs it: the answer is sent by this one,
 * so that the command does not wait for a client that does not read. */
static void
box_visit(struct wsand_sandbox *sb, void *arg)
{
    struct request *q = arg;
    struct wsand_error err = {0};

    q->is_job = !(q->method->flags & READS);
    q->is_held = true;
    int r = wsand_beside(sb, handle, q, &err);
    q->is_held = false;
    q->is_job = false;
    if (r < 0)
        answer_failure(q, &err);
    else
        answer_held(q);
}

static void
box_post(OWN struct request *q)
{
    struct wsand_sandbox *sb = q->box->sb;
    struct wsand_error err = {0};
    int r;

    if (!request_is_line(q) && param_bool(q, "concurrent"))
        r = wsand_post_beside(sb, box_visit, q, &err);
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
box_serve(struct box *box, OWN struct request *q)
{
    if (q->method->flags & AT_ONCE) {
        q->sb = box->sb;
        q->method->handle(q);
    } else {
        box_post(q);
    }
}

static void
box_refuse(struct box *box, OWN struct request *q)
{
    run_forget(q);
    if (box->id)
        answer_error(q, INVALID_PARAMS, "Unknown sandboxId: %" PRIu64, box->id);
    else
        answer_error(q, INVALID_REQUEST, "Sandbox not created");
}

static void
refuse_away(OWN struct request *q)
{
    run_forget(q);
    answer_error(q, SANDBOX_ERROR,
                 "EAGAIN: the sandbox is offloaded; rehydrate it");
}

/* A run can be cancelled from the time it was read. */
static void
note_run(struct box *box, struct request *q)
{
    if (q->method->handle != do_run)
        return;
    pthread_mutex_lock(&box->srv->lock);
    q->is_cancelled = input_was_cancelled(box->srv, box, q->id);
    list_push_back(&box->runs, &q->run_link);
    pthread_mutex_unlock(&box->srv->lock);
}

static void
route(struct box *box, OWN struct request *q)
{
    switch (box->state) {
    case BOX_MAKING:
        list_push_back(&box->pending, &q->link);
        break;
    case BOX_READY:
        box_serve(box, q);
        break;
    case BOX_AWAY:
        if (q->method->flags & (ROOT | EARLY) ||
            q->method->handle == do_rehydrate)
            q->method->handle(q);
        else
            refuse_away(q);
        break;
    case BOX_GONE:
        box_refuse(box, q);
        break;
    }
}

void
box_submit(struct box *box, OWN struct request *q)
{
    q->box = box;
    note_run(box, q);
    if (box->state != BOX_READY || q->method->flags & AT_ONCE || !leader_run(q))
        route(box, q);
}

void
box_settle(struct box *box, enum box_state state)
{
    struct list waiting;

    box->state = state;
    process_resume_all(box);
    list_move(&box->pending, &waiting);
    LIST_FOR_EACH_SAFE(it, &waiting) {
        struct request *q = CONTAINER_OF(it, struct request, link);
        list_remove(it);
        route(box, q);
    }
}

/* --- making and freeing */

struct making {
    struct work work;
    struct box *box;
    make_done *done;
    void *arg;
    struct wsand_sandbox *sb;
    struct wsand_error err;
};

static void
tell_made(struct work *w)
{
    struct making *m = CONTAINER_OF(w, struct making, work);

    m->done(m->arg, m->sb, &m->err);
    free(m);
}

static void
make_job(void *arg)
{
    struct making *m = arg;
    struct server *srv = m->box->srv;

    if (config_make_sandbox(m->box->config, &m->sb, &m->err) < 0)
        m->sb = NULL;
    loop_post(srv, &m->work, tell_made);
}

void
box_make(struct box *box, make_done *done, void *arg)
{
    struct making *m = calloc(1, sizeof *m);
    struct wsand_error err = {0};

    if (!m) {
        (void)fail(&err, ENOMEM, "out of memory");
        done(arg, NULL, &err);
        return;
    }
    *m = (struct making){.box = box, .done = done, .arg = arg};
    if (wsand_runtime_post(box->srv->rt, make_job, m, &m->err) < 0)
        tell_made(&m->work);
}

void
box_make_here(struct box *box, make_done *done, void *arg)
{
    struct wsand_error err = {0};
    struct wsand_sandbox *sb = NULL;

    if (config_make_sandbox(box->config, &sb, &err) < 0)
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
free_job(void *arg)
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
        if (wsand_runtime_post(srv->rt, free_job, f, NULL) == 0)
            return;
        free(f);
    }
    wsand_sandbox_free(sb);
    loop_post(srv, w, done); /* behind what freeing it has posted */
}

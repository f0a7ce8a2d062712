/* create, kill, sandbox.*: sandboxes come and go. */
#include "rpc/rpc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* `copy` is a fork, or NULL. */
static void
answer_id(OWN struct request *q, const struct box *box,
          struct wsand_sandbox *copy)
{
    struct buf *b = answer_begin(q);

    buf_printf(b, "{\"sandboxId\":\"%" PRIu64 "\"", box->id);
    if (copy)
        put_not_copied(b, copy);
    buf_puts(b, "}");
    answer_end(q);
}

/* --- the root */

struct root_making {
    struct box *box;
    struct request *q; /* NULL: the line protocol needs it */
};

static void
on_root_made(void *arg, struct wsand_sandbox *sb, const struct wsand_error *err)
{
    struct root_making *m = arg;
    struct server *srv = m->box->srv;

    if (!sb && !m->q)
        say(srv, LOG_ERROR, "no sandbox: %s", err->message);
    if (m->q)
        answer_status(m->q, sb ? 0 : -err->errnum, err);
    m->box->sb = sb;
    if (sb)
        srv->in.max = m->box->config->rpc_bytes;
    else
        srv->root = NULL;
    box_settle(m->box, sb ? BOX_READY : BOX_GONE);
    if (!sb)
        box_free(m->box);
    free(m);
}

bool
root_make(struct server *srv, struct config *c, OWN struct request *q)
{
    struct root_making *m = malloc(sizeof *m);
    struct box *box = m ? box_new(srv, 0, c) : NULL;

    if (!box) {
        free(m);
        if (q)
            answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
        return false;
    }
    *m = (struct root_making){box, q};
    srv->root = box;
    if (q && config_is_quick(c))
        box_make_here(box, on_root_made, m);
    else
        box_make(box, on_root_made, m);
    return true;
}

void
do_create(struct request *q)
{
    struct server *srv = q->srv;

    if (srv->root) {
        answer_error(q, INVALID_REQUEST, "Sandbox already created");
        return;
    }
    CLEANUP(config_putp)
    struct config *c = config_new(srv, q->msg, q->params, false);
    if (c)
        (void)root_make(srv, c, q);
    else
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
}

void
do_kill(struct request *q)
{
    if (q->srv->killer) { /* a batch may have more than one */
        answer_ok(q);
        return;
    }
    q->srv->is_deaf = true;
    q->srv->killer = q;
}

/* --- sandbox.create */

static void
do_sandbox_on_made(void *arg, struct wsand_sandbox *sb,
                   const struct wsand_error *err)
{
    struct request *q = arg;
    struct box *box = q->box;

    if (sb)
        answer_id(q, box, NULL);
    else
        answer_failure(q, err);
    box->sb = sb;
    box_settle(box, sb ? BOX_READY : BOX_GONE);
    if (!sb)
        box_free(box);
}

void
do_sandbox_create(struct request *q)
{
    struct server *srv = q->srv;
    const char *label = param_text(q, "label");
    struct box *box = box_new(srv, ++srv->last_id, srv->root->config);

    if (box && label)
        box->label = strdup(label);
    if (!box || (label && !box->label)) {
        if (box)
            box_free(box);
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
        return;
    }
    q->box = box;
    if (config_is_quick(box->config))
        box_make_here(box, do_sandbox_on_made, q);
    else
        box_make(box, do_sandbox_on_made, q);
}

/* --- sandbox.fork */

struct forking {
    struct work work;
    struct request *q;
    struct wsand_sandbox *sb; /* NULL: it failed */
    struct wsand_error err;
};

static void
on_forked(struct work *w)
{
    struct forking *f = CONTAINER_OF(w, struct forking, work);
    struct server *srv = f->q->srv;
    struct box *box = NULL;

    if (!f->sb) {
        answer_failure(f->q, &f->err);
    } else if (!(box = box_new(srv, ++srv->last_id, f->q->box->config))) {
        wsand_sandbox_free(f->sb);
        answer_error(f->q, INTERNAL_ERROR, "Internal error: out of memory");
    } else {
        box->sb = f->sb;
        box->state = BOX_READY;
        answer_id(f->q, box, f->sb);
    }
    free(f);
}

void
do_sandbox_fork(struct request *q)
{
    struct forking *f = calloc(1, sizeof *f);

    if (!f) {
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
        return;
    }
    f->q = q;
    if (wsand_fork(q->sb, &f->sb, &f->err) < 0)
        f->sb = NULL;
    loop_post(q->srv, &f->work, on_forked);
}

/* --- sandbox.list */

static void
do_sandbox_put_time(struct buf *b, int64_t ms)
{
    char text[32];
    time_t s = ms / 1000;
    struct tm tm;

    (void)gmtime_r(&s, &tm);
    (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    buf_printf(b, "\"%s.%03dZ\"", text, (int)(ms % 1000));
}

static void
put_box(struct buf *b, const struct box *box)
{
    buf_printf(b, "{\"sandboxId\":\"%" PRIu64 "\"", box->id);
    if (box->label) {
        put_name(b, "label");
        put_text(b, box->label);
    }
    put_name(b, "createdAt");
    do_sandbox_put_time(b, box->created_ms);
    buf_add(b, "}", 1);
}

void
do_sandbox_list(struct request *q)
{
    struct server *srv = q->srv;
    struct buf *b = answer_begin(q);
    bool is_first = true;

    buf_add(b, "[", 1);
    for (size_t i = 0; i < BOX_BUCKETS; i++)
        LIST_FOR_EACH(it, &srv->boxes[i]) {
            const struct box *box = CONTAINER_OF(it, struct box, link);
            if (box->state == BOX_GONE)
                continue;
            if (!is_first)
                buf_add(b, ",", 1);
            is_first = false;
            put_box(b, box);
        }
    buf_add(b, "]", 1);
    answer_end(q);
}

/* --- sandbox.destroy */

static void
do_sandbox_on_freed(struct work *w)
{
    struct request *q = CONTAINER_OF(w, struct request, work);

    box_free(q->box);
    answer_ok(q);
}

static void
free_now(struct work *w)
{
    const struct request *q = CONTAINER_OF(w, struct request, work);

    sandbox_free_later(q->srv, q->box->sb, w, do_sandbox_on_freed);
}

/* All that came before on the sandbox has been served. */
static void
last_job(struct wsand_sandbox *sb, void *arg)
{
    struct request *q = arg;

    (void)sb;
    loop_post(q->srv, &q->work, free_now);
}

void
do_sandbox_destroy(struct request *q)
{
    uint64_t id = param_sandbox_id(q);
    struct box *box = box_find(q->srv, id);
    enum box_state state;

    if (!box && id && id <= q->srv->last_id) {
        answer_ok(q);
        return;
    }
    if (!box) {
        answer_error(q, INVALID_PARAMS, "Unknown sandboxId: %.200s",
                     param_text(q, "sandboxId"));
        return;
    }
    q->box = box;
    state = box->state;
    if (state == BOX_MAKING) {
        list_push_back(&box->pending, &q->link);
        return;
    }
    box->state = BOX_GONE;
    process_refuse_waiters(box);
    if (state == BOX_AWAY) /* later: whoever settles the box goes on with it */
        loop_post(q->srv, &q->work, do_sandbox_on_freed);
    else if (wsand_post(box->sb, last_job, q, NULL) < 0)
        free_now(&q->work);
}

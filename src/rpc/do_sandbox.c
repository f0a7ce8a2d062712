/* create, kill, sandbox.*: sandboxes come and go. */
#include "rpc/code.h"
#include "rpc/config.h"
#include "rpc/methods.h"
#include "rpc/process.h"
#include "rpc/report.h"
#include "rpc/slot.h"
#include "rpc/values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `copy` is a fork, or NULL. */
static void
sandbox_answer_id(OWN struct call *q, const struct slot *slot,
                  struct wsand_sandbox *copy)
{
    struct buf *b = answer_begin(q);

    buf_printf(b, "{\"sandboxId\":\"%" PRIu64 "\"", slot->id);
    if (copy)
        put_not_copied(b, copy);
    buf_puts(b, "}");
    answer_end(q);
}

/* --- the root */

struct root_creation {
    struct slot *slot;
    struct call *q; /* NULL: the line protocol needs it */
};

/* The waiting calls are served after the answer to `create`, in the order of
 * their arrival. If the creation failed, they are refused, and `create` can be
 * tried again. */
static void
root_created(void *arg, struct wsand_sandbox *sb, const struct wsand_error *err)
{
    struct root_creation *m = arg;
    struct server *srv = m->slot->srv;

    if (!sb && !m->q)
        report_line(srv, LOG_ERROR, "no sandbox: %s", err->message);
    if (m->q)
        answer_status(m->q, sb ? 0 : -err->errnum, err);
    m->slot->sb = sb;
    if (sb)
        srv->in.max = m->slot->config->rpc_bytes;
    else
        srv->root = NULL;
    slot_settle(m->slot, sb ? SLOT_READY : SLOT_DESTROYED);
    if (!sb)
        slot_free(m->slot);
    free(m);
}

/* The slot exists at once, so that calls that arrive meanwhile wait in it. */
bool
root_create(struct server *srv, struct sandbox_config *c, OWN struct call *q)
{
    struct root_creation *m = malloc(sizeof *m);
    struct slot *slot = m ? slot_new(srv, 0, c, NULL) : NULL;

    if (!slot) {
        free(m);
        if (q)
            answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
        return false;
    }
    *m = (struct root_creation){slot, q};
    srv->root = slot;
    if (q && config_is_quick(c, slot->image))
        slot_create_here(slot, root_created, m);
    else
        slot_create(slot, root_created, m);
    return true;
}

/* The configuration keeps the message, because it points to the parameters. */
void
do_create(struct call *q)
{
    struct server *srv = server_of(q);

    if (srv->root) {
        answer_error(q, INVALID_REQUEST, "Sandbox already created");
        return;
    }
    CLEANUP(config_putp)
    struct sandbox_config *c = config_new(srv, q->msg, q->params, false);
    if (c)
        (void)root_create(srv, c, q);
    else
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
}

/* The answer is sent at the end, when all sandboxes are freed (server.c). */
void
do_kill(struct call *q)
{
    if (server_of(q)->killer) { /* a batch may have more than one */
        answer_ok(q);
        return;
    }
    server_of(q)->is_deaf = true;
    server_of(q)->killer = q;
}

/* --- sandbox.create */

/* A slot whose sandbox could not be created refuses the calls that wait in it,
 * and is freed. */
static void
sandbox_created(void *arg, struct wsand_sandbox *sb,
                const struct wsand_error *err)
{
    struct call *q = arg;
    struct slot *slot = slot_of(q);

    if (sb)
        sandbox_answer_id(q, slot, NULL);
    else
        answer_failure(q, err);
    slot->sb = sb;
    slot_settle(slot, sb ? SLOT_READY : SLOT_DESTROYED);
    if (!sb)
        slot_free(slot);
}

/* The slot gets its id and label first: calls may name the sandbox before it
 * exists. */
void
do_sandbox_create(struct call *q)
{
    struct server *srv = server_of(q);
    const char *label = param_text(q, "label");
    const char *image = param_text(q, "image");
    struct slot *slot = slot_new(srv, ++srv->last_id, srv->root->config,
                                 image ? image : srv->root->image);

    if (slot && label)
        slot->label = strdup(label);
    if (!slot || (label && !slot->label)) {
        if (slot)
            slot_free(slot);
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
        return;
    }
    job_of(q)->slot = slot;
    if (config_is_quick(slot->config, slot->image))
        slot_create_here(slot, sandbox_created, q);
    else
        slot_create(slot, sandbox_created, q);
}

/* --- sandbox.fork */

struct forking {
    struct work work;
    struct call *q;
    struct wsand_sandbox *sb; /* NULL: it failed */
    struct wsand_error err;
};

/* A fork shares the configuration of its original. */
static void
sandbox_forked(struct work *w)
{
    struct forking *f = CONTAINER_OF(w, struct forking, work);
    struct server *srv = server_of(f->q);
    const struct slot *from = slot_of(f->q);
    struct slot *slot = NULL;

    if (!f->sb) {
        answer_failure(f->q, &f->err);
    } else if (!(slot = slot_new(srv, ++srv->last_id, from->config,
                                 from->image))) {
        wsand_sandbox_free(f->sb);
        answer_error(f->q, INTERNAL_ERROR, "Internal error: out of memory");
    } else {
        slot->sb = f->sb;
        slot->phase = SLOT_READY;
        sandbox_answer_id(f->q, slot, f->sb);
    }
    free(f);
}

/* The job makes the copy, in the order of the sandbox. The loop adds it to the
 * table. */
void
do_sandbox_fork(struct call *q)
{
    struct forking *f = calloc(1, sizeof *f);

    if (!f) {
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
        return;
    }
    f->q = q;
    if (wsand_fork(sandbox_of(q), &f->sb, &f->err) < 0)
        f->sb = NULL;
    loop_post(server_of(q), &f->work, sandbox_forked);
}

/* --- sandbox.list */

static void
sandbox_put(struct buf *b, const struct slot *slot)
{
    buf_printf(b, "{\"sandboxId\":\"%" PRIu64 "\"", slot->id);
    if (slot->label) {
        put_name(b, "label");
        put_text(b, slot->label);
    }
    put_name(b, "createdAt");
    put_time(b, slot->created_ms);
    buf_add(b, "}", 1);
}

/* A sandbox that is being created is listed, too: its id is known already. */
void
do_sandbox_list(struct call *q)
{
    struct server *srv = server_of(q);
    struct buf *b = answer_begin(q);
    bool is_first = true;

    buf_add(b, "[", 1);
    for (size_t i = 0; i < SLOT_BUCKETS; i++)
        LIST_FOR_EACH(it, &srv->slots[i]) {
            const struct slot *slot = CONTAINER_OF(it, struct slot, link);
            if (slot->phase == SLOT_DESTROYED)
                continue;
            if (!is_first)
                buf_add(b, ",", 1);
            is_first = false;
            sandbox_put(b, slot);
        }
    buf_add(b, "]", 1);
    answer_end(q);
}

/* --- sandbox.destroy */

/* The slot is freed before the answer, so that a client that has it finds the
 * number of sandboxes changed. */
static void
sandbox_freed(struct work *w)
{
    struct job *j = CONTAINER_OF(w, struct job, work);

    slot_free(j->slot);
    answer_ok(&j->call);
}

static void
do_sandbox_free(struct work *w)
{
    const struct slot *slot = CONTAINER_OF(w, struct job, work)->slot;

    sandbox_free_later(slot->srv, slot->sb, w, sandbox_freed);
}

/* All earlier calls to the sandbox have been served. */
static void
sandbox_last_job(struct wsand_sandbox *sb, void *arg)
{
    (void)sb;
    loop_post(server_of(arg), &job_of(arg)->work, do_sandbox_free);
}

/* Destroying it again is no error, for a client that retries. A sandbox that
 * is being created is destroyed when that is over. */
void
do_sandbox_destroy(struct call *q)
{
    uint64_t id = param_sandbox_id(q);
    struct slot *slot = slot_find(server_of(q), id);
    enum slot_phase phase;

    if (!slot && id && id <= server_of(q)->last_id) {
        answer_ok(q);
        return;
    }
    if (!slot) {
        answer_error(q, INVALID_PARAMS, "Unknown sandboxId: %.200s",
                     param_text(q, "sandboxId"));
        return;
    }
    job_of(q)->slot = slot;
    phase = slot->phase;
    if (phase == SLOT_CREATING) {
        list_push_back(&slot->pending, &q->link);
        return;
    }
    slot->phase = SLOT_DESTROYED;
    process_refuse_waiters(slot);
    code_refuse_all(slot);
    if (phase == SLOT_OFFLOADED) /* not now: the caller may be slot_settle */
        loop_post(server_of(q), &job_of(q)->work, sandbox_freed);
    else if (wsand_post(slot->sb, sandbox_last_job, q, NULL) < 0)
        do_sandbox_free(&job_of(q)->work);
}

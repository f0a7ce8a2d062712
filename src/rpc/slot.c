/* Sandboxes by their ids, and the order of their calls.
 *
 * A slot passes its calls on by its phase. While the sandbox is being created,
 * calls wait; when it is ready, they become jobs in the order of arrival, and
 * the library keeps that order. Offloaded and destroyed sandboxes refuse
 * calls. */
#include "rpc/slot.h"

#include "base/os_time.h"
#include "rpc/code.h"
#include "rpc/config.h"
#include "rpc/methods.h"
#include "rpc/process.h"
#include "rpc/report.h"
#include "rpc/run.h"
#include "rpc/transfer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The root is not in the table, because no id names it. */
struct slot *
slot_new(struct server *srv, uint64_t id, struct sandbox_config *config,
         const char *image)
{
    struct slot *slot = calloc(1, sizeof *slot);
    char *name = strdup(image ? image : config_image(config));

    if (!slot || !name) {
        free(slot);
        free(name);
        return NULL;
    }
    *slot = (struct slot){.srv = srv,
                          .id = id,
                          .created_ms = time_wall_ms(),
                          .config = config_get(config),
                          .image = name};
    list_init(&slot->link);
    list_init(&slot->pending);
    list_init(&slot->processes);
    list_init(&slot->contexts);
    list_init(&slot->runs);
    if (id) {
        list_push_back(&srv->slots[id % SLOT_BUCKETS], &slot->link);
        srv->n_slots++;
    }
    return slot;
}

/* The sandbox itself was freed before: its processes may call back until then.
 */
void
slot_free(struct slot *slot)
{
    if (slot->id)
        slot->srv->n_slots--;
    list_remove(&slot->link);
    process_free_all(slot);
    code_free_all(slot);
    transfer_free(slot->export);
    transfer_free(slot->import);
    config_put(slot->config);
    free(slot->label);
    free(slot->image);
    free(slot);
}

/* A destroyed slot stays in the table until its sandbox is freed, but no call
 * finds it. */
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
slot_each(struct server *srv, void (*fn)(struct slot *slot))
{
    for (size_t i = 0; i < SLOT_BUCKETS; i++)
        LIST_FOR_EACH_SAFE(it, &srv->slots[i])
            fn(CONTAINER_OF(it, struct slot, link));
    if (srv->root)
        fn(srv->root);
}

void
slot_name(const struct slot *slot, char ret[SLOT_NAME_BYTES])
{
    (void)snprintf(ret, SLOT_NAME_BYTES, slot->id ? "%" PRIu64 : "root",
                   slot->id);
}

/* --- serving */

/* The sandbox of an AT_ONCE call may be in use by another thread. Its handler
 * uses only functions of the library that never wait. */
static void
slot_serve(struct slot *slot, OWN struct call *q)
{
    if (q->method->flags & AT_ONCE) {
        job_of(q)->sb = slot->sb;
        q->method->handle(q);
    } else {
        job_post(q);
    }
}

/* The texts are those of a sandbox that never existed. */
static void
slot_refuse(struct slot *slot, OWN struct call *q)
{
    run_forget(q);
    if (slot->id)
        answer_error(q, INVALID_PARAMS, "Unknown sandboxId: %" PRIu64,
                     slot->id);
    else
        answer_error(q, INVALID_REQUEST, "Sandbox not created");
}

static void
slot_refuse_offloaded(OWN struct call *q)
{
    run_forget(q);
    answer_error(q, SANDBOX_ERROR,
                 "EAGAIN: the sandbox is offloaded; rehydrate it");
}

/* Calls that need no sandbox are served while it is offloaded, and so is the
 * one that loads it. */
static void
slot_route(struct slot *slot, OWN struct call *q)
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

/* A run is registered before anything else, so that it can be cancelled in
 * every phase. */
void
slot_submit(struct slot *slot, OWN struct call *q)
{
    job_of(q)->slot = slot;
    run_register(q);
    if (slot->phase != SLOT_READY || q->method->flags & AT_ONCE ||
        !leader_run(q))
        slot_route(slot, q);
}

/* Processes whose output waited for the sandbox continue. The waiting calls
 * move to a list of their own, because a handler may let its call wait again.
 */
void
slot_settle(struct slot *slot, enum slot_phase phase)
{
    struct list waiting;

    slot->phase = phase;
    process_resume_all(slot);
    code_resume_all(slot);
    list_move(&slot->pending, &waiting);
    LIST_FOR_EACH_SAFE(it, &waiting) {
        struct call *q = CONTAINER_OF(it, struct call, link);
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

/* On the loop, like every change of a phase. */
static void
slot_created(struct work *w)
{
    struct creation *m = CONTAINER_OF(w, struct creation, work);

    m->done(m->arg, m->sb, &m->err);
    free(m);
}

/* Reading host files and compiling programs may take long, so the loop does
 * not wait for it. */
static void
slot_create_job(void *arg)
{
    struct creation *m = arg;
    struct server *srv = m->slot->srv;

    if (config_create_sandbox(m->slot->config, m->slot->image, &m->sb,
                              &m->err) < 0)
        m->sb = NULL;
    loop_post(srv, &m->work, slot_created);
}

/* Without memory, the failure is reported at once. `done` is called exactly
 * once in every case. */
void
slot_create(struct slot *slot, created_fn *done, void *arg)
{
    struct creation *m = calloc(1, sizeof *m);
    struct wsand_error err = {0};

    if (!m) {
        (void)report_fail(&err, ENOMEM, "out of memory");
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

    if (config_create_sandbox(slot->config, slot->image, &sb, &err) < 0)
        sb = NULL;
    done(arg, sb, &err);
}

struct freeing {
    struct server *srv;
    struct wsand_sandbox *sb;
    struct work *work;
    work_fn *done;
};

/* Freeing waits for the jobs of the sandbox, and may unmap much memory. */
static void
slot_free_job(void *arg)
{
    struct freeing *f = arg;

    wsand_sandbox_free(f->sb);
    loop_post(f->srv, f->work, f->done);
    free(f);
}

/* Without memory for the job, the loop frees the sandbox itself. The work is
 * posted in both cases, because its caller may still use the slot. */
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

/* offload and rehydrate: a sandbox that the client keeps.
 *
 * From the beginning of either to its end, other calls to the sandbox wait.
 * The steps alternate between a job on the sandbox (saving, loading), a
 * request to the client (storage.save, storage.load), and the loop, which
 * changes the phase of the slot. A step that fails leaves the sandbox as it
 * was before. */
#include "base/os_time.h"
#include "rpc/callback.h"
#include "rpc/config.h"
#include "rpc/methods.h"
#include "rpc/process.h"
#include "rpc/report.h"
#include "rpc/slot.h"
#include "rpc/values.h"

#include <errno.h>
#include <stdlib.h>

struct storing {
    struct work work;
    struct call *q;
    struct slot *slot;
    void *data;
    size_t len;
    int r; /* of the job */
    struct wsand_error err;
};

static struct storing *
storing_new(struct call *q)
{
    struct storing *s = NULL;

    if (!slot_of(q)->config->has_storage)
        answer_error(q, SANDBOX_ERROR,
                     "EOPNOTSUPP: the sandbox was created without storage");
    else if (!(s = calloc(1, sizeof *s)))
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
    else
        *s = (struct storing){.q = q, .slot = slot_of(q)};
    return s;
}

/* The end, with s->err if s->r says so. */
static void
storing_finish(OWN struct storing *s, enum slot_phase phase)
{
    answer_status(s->q, s->r, &s->err);
    slot_settle(s->slot, phase);
    free(s->data);
    free(s);
}

/* Returns false if it could not be posted; s->err contains the reason. A posted
 * job may already be done. */
static bool
storing_post(struct storing *s,
             void (*job)(struct wsand_sandbox *sb, void *arg))
{
    struct wsand_error err = {0};

    int r = wsand_post(s->slot->sb, job, s, &err);
    if (r == 0)
        return true;
    s->r = r;
    s->err = err;
    return false;
}

/* The client has as long as a run of the sandbox would have. */
static void
storing_ask(struct storing *s, const char *method, callback_done *done)
{
    int64_t limit_ns = (int64_t)s->slot->config->timeout_ms * NS_PER_MS;
    char name[24];
    struct buf b;

    slot_name(s->slot, name);
    buf_init(&b, SIZE_MAX);
    buf_add(&b, "{", 1);
    put_name(&b, "sandbox_id");
    put_text(&b, name);
    if (s->data) {
        put_name(&b, "state");
        put_base64(&b, s->data, s->len);
    }
    buf_add(&b, "}", 1);
    callback_send(s->slot->srv, method, &b, time_mono_ns() + limit_ns, done, s);
    buf_fini(&b);
}

/* --- offload: export, storage.save, free */

/* The processes are gone with the sandbox; calls that wait for them are
 * refused. */
static void
do_storage_on_freed(struct work *w)
{
    struct storing *s = CONTAINER_OF(w, struct storing, work);

    s->slot->sb = NULL;
    process_refuse_waiters(s->slot);
    process_free_all(s->slot);
    storing_finish(s, SLOT_OFFLOADED);
}

/* Only when the client has the state is the sandbox freed. */
static void
storing_saved(void *arg, const struct json *result, const char *error)
{
    struct storing *s = arg;

    if (result) {
        sandbox_free_later(s->slot->srv, s->slot->sb, &s->work,
                           do_storage_on_freed);
        return;
    }
    s->r = report_fail(&s->err, EIO, "storage.save: %s", error);
    storing_finish(s, SLOT_READY);
}

static void
storing_exported(struct work *w)
{
    struct storing *s = CONTAINER_OF(w, struct storing, work);

    if (s->r == 0)
        storing_ask(s, "storage.save", storing_saved);
    else
        storing_finish(s, SLOT_READY);
}

/* The export is a job like any other, so that it comes after all earlier
 * calls. */
static void
storing_export(struct wsand_sandbox *sb, void *arg)
{
    struct storing *s = arg;

    s->r = wsand_export(sb, &s->data, &s->len, &s->err);
    loop_post(s->slot->srv, &s->work, storing_exported);
}

/* The slot is as if it were being created: later calls wait in it until the
 * outcome is known. */
void
do_offload(struct call *q)
{
    struct storing *s = storing_new(q);

    if (!s)
        return;
    s->slot->phase = SLOT_CREATING;
    if (!storing_post(s, storing_export))
        storing_finish(s, SLOT_READY);
}

/* --- rehydrate: storage.load, a new sandbox, import */

/* A sandbox whose import failed is freed. The client still has the state, and
 * rehydrate can be called again. */
static void
storing_dropped(struct work *w)
{
    struct storing *s = CONTAINER_OF(w, struct storing, work);

    s->slot->sb = NULL;
    storing_finish(s, SLOT_OFFLOADED);
}

static void
storing_imported(struct work *w)
{
    struct storing *s = CONTAINER_OF(w, struct storing, work);

    if (s->r == 0)
        storing_finish(s, SLOT_READY);
    else
        sandbox_free_later(s->slot->srv, s->slot->sb, &s->work,
                           storing_dropped);
}

static void
storing_import(struct wsand_sandbox *sb, void *arg)
{
    struct storing *s = arg;

    s->r = wsand_import(sb, s->data, s->len, &s->err);
    loop_post(s->slot->srv, &s->work, storing_imported);
}

static void
do_storage_on_made(void *arg, struct wsand_sandbox *sb,
                   const struct wsand_error *err)
{
    struct storing *s = arg;

    s->slot->sb = sb;
    if (!sb) {
        s->r = -err->errnum;
        s->err = *err;
        storing_finish(s, SLOT_OFFLOADED);
        return;
    }
    if (!storing_post(s, storing_import))
        storing_imported(&s->work);
}

/* The answer comes from the client, so each of its members is checked. */
static int
storing_take_state(struct storing *s, const struct json *result,
                   const char *error)
{
    const struct json *state = json_get(result, "state");
    char *data;

    if (!result)
        return report_fail(&s->err, EIO, "storage.load: %s", error);
    if (!json_is(state, JSON_STRING))
        return report_fail(&s->err, ENOENT, "storage.load returned no state");
    int r = decode_base64(json_text(state), &data, &s->len);
    if (r < 0)
        return report_fail(&s->err, -r,
                           "storage.load: the state is not base64");
    s->data = data;
    return 0;
}

static void
storing_loaded(void *arg, const struct json *result, const char *error)
{
    struct storing *s = arg;

    s->r = storing_take_state(s, result, error);
    if (s->r == 0)
        slot_create(s->slot, do_storage_on_made, s);
    else
        storing_finish(s, SLOT_OFFLOADED);
}

/* A sandbox that is there needs nothing. */
void
do_rehydrate(struct call *q)
{
    if (slot_of(q)->phase == SLOT_READY) {
        answer_ok(q);
        return;
    }
    struct storing *s = storing_new(q);
    if (!s)
        return;
    s->slot->phase = SLOT_CREATING;
    storing_ask(s, "storage.load", storing_loaded);
}

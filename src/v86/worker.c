#include "v86/worker.h"

#include "seal/rows.h"
#include "seal/seal.h"
#include "v86/jail.h"
#include "v86/job.h"
#include "wire/log.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

int
v86_worker_seal(void)
{
    static const struct seccomp_rule rules[] = {
#include "v86/worker_calls.def"
    };
    static const struct seccomp_policy policy = POLICY(rules, EPERM);
    const char *where = "";
    int r = seal_machine(&policy, &where);

    if (r < 0)
        text_logf("v86: cannot seal: %s: %s", where, strerror(-r));
    return r;
}

void
v86_worker_ready(struct v86_server *s)
{
    static const char ready[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"worker.ready\"}\n";

    outbox_put(&s->out, ready, sizeof ready - 1);
}

/* --- create */

static uint64_t
worker_limit(const struct call *q, const char *name)
{
    int64_t n = 0;

    (void)json_whole(json_get(param(q, "limits"), name), &n);
    return (uint64_t)n;
}

/* Sets the sizes of the session. Returns false after answering. */
static bool
worker_set_sizes(struct zygote_options *o, struct call *q)
{
    uint64_t ram = worker_limit(q, "memoryBytes") >> 20;
    uint64_t disk = (uint64_t)param_int(q, "fsLimitBytes", 0) >> 20;

    if (ram < V86_RAM_MB_MIN || disk < V86_DISK_MB_MIN) {
        answer_error(q, SANDBOX_ERROR,
                     "EINVAL: mode v86 needs memoryMb of at least %d and "
                     "diskMb of at least %d",
                     V86_RAM_MB_MIN, V86_DISK_MB_MIN);
        return false;
    }
    if (ram > V86_RAM_MB_MAX)
        ram = V86_RAM_MB_MAX;
    o->pump.ram_bytes = (uint32_t)ram << 20;
    o->overlay_bytes = disk << 20;
    return true;
}

/* Boots a machine of the disk for the session. */
static void
worker_boot(struct call *q, OWN struct disk *d)
{
    struct v86_server *s = v86_server_of(q);
    int r = v86_server_boot(s, d);

    if (r == 0)
        r = v86_sandbox_reset(s->root, s->zygote.control);
    s->saver.is_all = false; /* the supervisor has all but the changes */
    if (r < 0)
        answer_error(q, INTERNAL_ERROR, "no new machine: %s", strerror(-r));
    else
        answer_ok(q);
}

int
v86_worker_renew(struct v86_server *s)
{
    struct disk *d = NULL;

    if (!s->saver.was_loaded)
        return 0;
    int r = disk_new_like(s->disk, s->options.overlay_bytes, &d);
    if (r == 0)
        r = v86_server_boot(s, d);
    s->saver.was_loaded = r < 0;
    return r;
}

/* The machine of the pool has the usual sizes. A session with other ones boots
 * again; one with a state does so when that is loaded. */
void
v86_do_worker_create(struct call *q)
{
    struct v86_server *s = v86_server_of(q);
    struct zygote_options o = s->options;
    bool has_state =
        json_is(json_get(param(q, "limits"), "uncheckedMemory"), JSON_TRUE);
    struct disk *d = NULL;

    if (!worker_set_sizes(&o, q))
        return;
    s->timeout_ms = param_int(q, "timeoutMs", s->timeout_ms);
    bool is_other = o.pump.ram_bytes != s->options.pump.ram_bytes ||
                    o.overlay_bytes != s->options.overlay_bytes;
    s->options = o;
    s->ram_bytes = o.pump.ram_bytes;
    s->saver.is_held = has_state;
    if (has_state || !is_other) {
        answer_ok(q);
        return;
    }
    int r = disk_new_like(s->disk, o.overlay_bytes, &d);
    if (r < 0)
        answer_error(q, INTERNAL_ERROR, "no disk: %s", strerror(-r));
    else
        worker_boot(q, d);
}

/* --- the state */

/* Nothing is saved until the state was loaded: the store has another one. */
void
v86_do_state_load(struct call *q)
{
    struct v86_server *s = v86_server_of(q);
    struct disk *d = NULL;
    bool has_any;
    int64_t r = disk_new_like(s->disk, s->options.overlay_bytes, &d);

    if (r == 0)
        r = v86_state_read(d, V86_STATE_HFD, true, &has_any);
    if (r < 0) {
        disk_free(d);
        answer_error(q, SANDBOX_ERROR, "%s", strerror((int)-r));
        return;
    }
    s->saver.is_held = false;
    v86_saver_note_loaded(&s->saver, d);
    worker_boot(q, d);
}

/* The commit comes before the answer, as that of any request. */
void
v86_do_state_commit(struct call *q)
{
    answer_ok(q);
}

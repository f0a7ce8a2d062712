/* Instances: their stores, memories and exports. */
#include "engine/instance.h"

#include "engine/config.h"
#include "engine/engine_impl.h"
#include "engine/machine_impl.h"
#include "engine/pagemap.h"
#include "engine/reaper.h"
#include "engine/shim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_BYTES  (64u << 20)  /* freed by the reaper */
#define KEPT_BYTES   (256u << 10) /* cleared rather than given back */
#define SHARES_MAX   24000        /* in all: Linux allows 65,530 mappings */
#define SLICE_CHECKS 10000        /* in a slice that is counted */

OWN struct instance *
instance_new(struct engine *e, struct program *p)
{
    struct instance *in = calloc(1, sizeof *in);

    if (!in)
        return NULL;
    in->engine = e;
    in->program = (struct engine_program *)program_get(p);
    in->machines = 1;
    return in;
}

/* --- memory */

uint8_t *
instance_base(const struct instance *in)
{
    return in->has_memory ? wasmtime_memory_data(in->context, &in->memory)
                          : NULL;
}

uint64_t
instance_size(const struct instance *in)
{
    return in->has_memory ? wasmtime_memory_data_size(in->context, &in->memory)
                          : 0;
}

int
instance_grow(struct instance *in, uint64_t size)
{
    uint64_t now = instance_size(in), old;

    if (now >= size)
        return 0;
    wasmtime_error_t *error = wasmtime_memory_grow(
        in->context, &in->memory, (size - now) >> WASM_PAGE_SHIFT, &old);
    if (!error)
        return 0;
    wasmtime_error_delete(error);
    return -ENOMEM;
}

/* MAP_NORESERVE: as the engine's own, so that the mappings become one again. */
static int
instance_map_over(const struct instance *in, uint64_t from, uint64_t to,
                  int hfd)
{
    int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
    void *p = mmap(instance_base(in) + from, to - from, PROT_READ | PROT_WRITE,
                   flags | (hfd < 0 ? MAP_ANONYMOUS : 0), hfd, 0);

    return p == MAP_FAILED ? -errno : 0;
}

/* Memory from `at` on is not the engine's any more. */
static void
instance_note_foreign(struct instance *in, uint64_t at)
{
    if (!in->foreign_from || at < in->foreign_from)
        in->foreign_from = at;
}

int
instance_map(struct instance *in, int hfd, uint64_t at, uint64_t len)
{
    uint64_t size = instance_size(in);

    if (in->mapped_to || at < in->first_bytes || at > size || len > size - at)
        return -EINVAL;
    int r = instance_map_over(in, at, at + len, hfd);
    if (r < 0)
        return r;
    in->mapped_from = at;
    in->mapped_to = at + len;
    instance_note_foreign(in, at);
    return 0;
}

/* Counts ranges of shared memory. Each of them can split a mapping of the host
 * in three. */
static int
instance_count_shares(struct instance *in, int more)
{
    _Atomic size_t *all = &in->engine->shares.mapped;

    if (more > 0 && atomic_fetch_add(all, (size_t)more) >= SHARES_MAX) {
        atomic_fetch_sub(all, (size_t)more);
        return -ENOMEM;
    }
    if (more < 0)
        atomic_fetch_sub(all, (size_t)-more);
    in->shares += more;
    return 0;
}

/* Memory before first_bytes may show a file with the initial memory of the
 * program, which the engine expects there when it uses the slot again. */
int
instance_share(struct instance *in, const struct machine_share *s, int more)
{
    uint64_t size = instance_size(in);

    if (s->at < in->first_bytes || s->at > size || s->len > size - s->at)
        return -EINVAL;
    int r = instance_count_shares(in, more);
    if (r < 0)
        return r;
    instance_note_foreign(in, s->at);
    if (s->bytes)
        r = shares_map(s->bytes, s->len, instance_base(in) + s->at);
    int e = 0;
    if (r < 0 || !s->bytes)
        e = instance_map_over(in, s->at, s->at + s->len, -1);
    if (r < 0 && e < 0)
        abort(); /* mremap may have left a hole, which any access would find */
    r = r < 0 ? r : e;
    if (r < 0)
        (void)instance_count_shares(in, -more);
    return r;
}

/* Returns true if at least KEPT_BYTES of its memory, from `from` to `to`, were
 * written to, by it or by instances that had this memory before. */
static bool
instance_is_dense(const struct instance *in, uint64_t from, uint64_t to)
{
    const uint8_t *base = instance_base(in), *at = base + from,
                  *end = base + to;
    struct page_range v[PAGE_RANGES];
    uint64_t bytes = 0;

    while (at < end && bytes < KEPT_BYTES) {
        int n = pagemap_written(&in->engine->pagemap, &at, end, v);
        if (n < 0)
            return true;
        for (int i = 0; i < n; i++)
            bytes += v[i].end - v[i].start;
    }
    return bytes >= KEPT_BYTES;
}

/* Replaces files and shared memory by zero pages, because the next instance in
 * this memory expects zeros. The engine itself clears all other pages; if many
 * were written to, replacing them here is cheaper. */
static int
instance_unmap(struct instance *in)
{
    bool all = instance_is_dense(in, in->first_bytes, in->foreign_from);

    return instance_map_over(in, all ? in->first_bytes : in->foreign_from,
                             instance_size(in), -1);
}

/* Shared memory is unmapped at once, and not by the reaper: its owner gives it
 * to others. */
static void
instance_unshare(struct instance *in)
{
    if (in->shares <= 0)
        return;
    in->is_lost = instance_unmap(in) < 0;
    in->foreign_from = 0;
    if (!in->is_lost)
        (void)instance_count_shares(in, -in->shares);
}

/* --- life */

/* If foreign memory cannot be unmapped, the slot is given up for ever: another
 * guest must never see what is in it. */
void
instance_dispose(OWN struct instance *in)
{
    struct engine *e = in->engine;

    if (in->is_lost || (in->foreign_from && instance_unmap(in) < 0))
        return;
    if (in->store)
        wasmtime_store_delete(in->store);
    program_put(&in->program->base);
    free(in);
    e->machines--;
}

void
instance_put(OWN struct instance *in)
{
    if (--in->machines > 0) {
        in->engine->machines--;
        return;
    }
    instance_unshare(in);
    if (instance_size(in) > LARGE_BYTES)
        reaper_add(&in->engine->reaper, in);
    else
        instance_dispose(in);
}

/* The kernel decides, since memory counts against the limits of the sandbox. */
static bool
instance_may_grow(void *env, uint64_t old_bytes, uint64_t new_bytes)
{
    const struct instance *in = env;

    return thread_may_grow(in->current->base.thread, old_bytes, new_bytes);
}

/* Called when the epoch has passed the deadline of the store: the slice of the
 * machine that runs is over, and it yields.
 *
 * Where runs are to be repeatable, the time must not decide which thread of a
 * process runs next. So the deadline has always passed, and this is called at
 * every function entry and loop: after a fixed number of calls the slice is
 * over. The machine yields at ticks as well, to let the kernel check its
 * timers, but continues after them. */
static wasmtime_error_t *
instance_on_tick(wasmtime_context_t *context, void *env, uint64_t *ret_ticks,
                 wasmtime_update_deadline_kind_t *ret_kind)
{
    struct instance *in = env;
    struct engine_machine *m = in->current;

    (void)context;
    if (m->base.is_counted)
        m->base.slice_is_over = ++m->checks == SLICE_CHECKS;
    if (in->engine->ticker.epoch == in->epoch && !m->base.slice_is_over) {
        *ret_ticks = m->base.is_counted ? 0 : 1;
        *ret_kind = WASMTIME_UPDATE_DEADLINE_CONTINUE;
        return NULL;
    }
    *ret_ticks = 0; /* asked again at once: is the next slice counted? */
    m->is_ticked = true;
    *ret_kind = WASMTIME_UPDATE_DEADLINE_YIELD;
    return NULL;
}

/* The epoch is compared at function entries and loops; the deadline is one tick
 * away. */
void
instance_open(struct instance *in)
{
    in->store = wasmtime_store_new(in->engine->wasm, in, NULL);
    in->context = wasmtime_store_context(in->store);
    in->limiter =
        (struct wsand_engine_limiter){instance_may_grow, in, TABLE_ELEMENTS};
    wsand_engine_store_limiter(in->store, &in->limiter);
    if (!in->engine->is_unpreemptive) {
        wasmtime_context_set_epoch_deadline(in->context, 1);
        wasmtime_store_epoch_deadline_callback(in->store, instance_on_tick, in,
                                               NULL);
    }
}

static const char *const own_names[INSTANCE_OWN] = {
    [INSTANCE_SP] = "__stack_pointer",
    [INSTANCE_TLS] = "__tls_base",
};

void
instance_ready(struct instance *in)
{
    in->memory = instance_export(in, "memory").of.memory;
    in->is_ready = in->has_memory = true;
    in->first_bytes = instance_size(in);
    in->n_own = in->program->has_tls       ? INSTANCE_OWN
                : in->program->has_threads ? 1
                                           : 0;
    for (size_t i = 0; i < INSTANCE_OWN && i < in->n_own; i++)
        (void)instance_global(in, own_names[i], &in->own[i]);
}

/* --- exports */

wasmtime_extern_t
instance_export(struct instance *in, const char *name)
{
    wasmtime_extern_t x;

    if (!wasmtime_instance_export_get(in->context, &in->wasm, name,
                                      strlen(name), &x))
        abort();
    return x;
}

bool
instance_global(struct instance *in, const char *name, wasmtime_global_t *ret)
{
    wasmtime_extern_t x;
    wasmtime_val_t v;

    if (!wasmtime_instance_export_get(in->context, &in->wasm, name,
                                      strlen(name), &x))
        return false;
    if (x.kind != WASMTIME_EXTERN_GLOBAL) {
        wasmtime_extern_delete(&x);
        return false;
    }
    *ret = x.of.global;
    wasmtime_global_get(in->context, ret, &v);
    return v.kind == WASMTIME_I32;
}

uint32_t
instance_get_u32(struct instance *in, const char *name, uint32_t otherwise)
{
    wasmtime_global_t g;
    wasmtime_val_t v;

    if (!instance_global(in, name, &g))
        return otherwise;
    wasmtime_global_get(in->context, &g, &v);
    return (uint32_t)v.of.i32;
}

void
instance_set_u32(struct instance *in, const char *name, uint32_t value)
{
    wasmtime_val_t v = {.kind = WASMTIME_I32, .of.i32 = (int32_t)value};
    wasmtime_global_t g;

    if (!instance_global(in, name, &g))
        return;
    wasmtime_error_t *error = wasmtime_global_set(in->context, &g, &v);
    if (error)
        wasmtime_error_delete(error);
}

void
instance_swap(struct instance *in, uint32_t *old, const uint32_t *now)
{
    wasmtime_val_t v;

    for (size_t i = 0; i < in->n_own; i++) {
        if (old) {
            wasmtime_global_get(in->context, &in->own[i], &v);
            old[i] = (uint32_t)v.of.i32;
        }
        v = (wasmtime_val_t){.kind = WASMTIME_I32, .of.i32 = (int32_t)now[i]};
        wasmtime_error_t *error =
            wasmtime_global_set(in->context, &in->own[i], &v);
        if (error)
            wasmtime_error_delete(error);
    }
}

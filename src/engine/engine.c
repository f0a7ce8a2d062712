/* An engine's life: configuration, imports, threads, in this order; and back.
 *
 * The engine has no thread until a machine runs (ticker.h) or a large one is
 * freed (reaper.h). A process that only loads programs has no thread of
 * ours. */
#include "engine/engine.h"

#include "base/hfd.h"
#include "engine/code_cache.h"
#include "engine/compilation.h"
#include "engine/compiler.h"
#include "engine/compiler_remote.h"
#include "engine/config.h"
#include "engine/engine_impl.h"
#include "engine/fork.h"
#include "engine/freeze.h"
#include "engine/imports.h"
#include "engine/machine_impl.h"
#include "engine/pagemap.h"
#include "engine/program.h"
#include "engine/reaper.h"
#include "engine/stack.h"
#include "engine/ticker.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* All machines of the engine yield at their next check; those that need not
 * simply continue. */
static void
engine_interrupt(struct engine *e)
{
    ticker_tick(&e->ticker);
}

static int
engine_share_new(struct engine *e, uint64_t len, uint8_t **ret)
{
    return shares_alloc(&e->shares, len, ret);
}

static void
engine_share_free(struct engine *e, uint8_t *bytes, uint64_t len)
{
    shares_free(&e->shares, bytes, len);
}

static const struct machine_ops ops = {
    .load = program_load,
    .cost_ns = compilation_cost_ns,
    .create = machine_create,
    .spawn = machine_spawn,
    .fault = machine_fault,
    .resume = machine_resume,
    .fork = machine_fork,
    .fork_return = machine_fork_return,
    .refresh = machine_refresh,
    .interrupt = engine_interrupt,
    .prepare = machine_prepare,
    .grow = machine_grow,
    .map = machine_map,
    .share_new = engine_share_new,
    .share_free = engine_share_free,
    .share = machine_share,
    .freeze = machine_freeze,
    .section = program_section,
    .stack_bytes = machine_stack_bytes,
    .free = machine_free,
};

const struct machine_ops *
engine_ops(void)
{
    return &ops;
}

uint32_t
engine_max_machines(const struct engine *e)
{
    return e->max_machines;
}

uint32_t
engine_machines(const struct engine *e)
{
    return e->machines;
}

static OWN struct engine *
engine_alloc(void)
{
    struct engine *e = calloc(1, sizeof *e);

    if (!e)
        return NULL;
    e->cache_hfd = e->shipped_hfd = -1;
    e->compiler.hfd = -1;
    pagemap_init(&e->pagemap);
    shares_init(&e->shares);
    pthread_mutex_init(&e->programs_lock, NULL);
    list_init(&e->kept);
    list_init(&e->compilations);
    for (size_t i = 0; i < PROGRAM_BUCKETS; i++)
        list_init(&e->programs[i]);
    return e;
}

/* Frees everything but the threads, which must have ended. */
static void
engine_release(OWN struct engine *e)
{
    if (e->linker)
        wasmtime_linker_delete(e->linker);
    if (e->wasm)
        wasm_engine_delete(e->wasm);
    hfd_closep(&e->cache_hfd);
    hfd_closep(&e->shipped_hfd);
    compiler_fini(&e->compiler);
    compiler_remote_fini(&e->remote);
    pagemap_fini(&e->pagemap);
    shares_fini(&e->shares);
    free(e);
}

/* A cache that cannot be opened is not an error: programs are compiled
 * again. */
static int
engine_init(struct engine *e, const struct engine_options *o, char *why,
            size_t why_size)
{
    int r;

    r = compiler_init(&e->compiler, o->compiler);
    if (r < 0) {
        (void)snprintf(why, why_size, "compiler %s", o->compiler);
        return r;
    }
    e->keeps_compiler = o->keeps_compiler;
    r = config_apply(e, o, why, why_size);
    if (r < 0)
        return r;
    e->compiles_in_process = o->compiles_in_process;
    e->is_unpreemptive = o->is_unpreemptive;
    if (o->cache_dir)
        e->cache_hfd = code_cache_open(o->cache_dir);
    if (o->shipped_dir)
        e->shipped_hfd =
            code_cache_open_shipped(o->shipped_dir, o->shipped_is_checked);
    e->shipped_is_checked = o->shipped_is_checked;
    e->linker = wasmtime_linker_new(e->wasm);
    r = imports_define(e->linker);
    if (r < 0)
        return r;
    ticker_init(&e->ticker, e->wasm, o->tick_us ? o->tick_us : 1000);
    reaper_init(&e->reaper);
    return 0;
}

int
engine_new(const struct engine_options *o, OWN struct engine **ret, char *why,
           size_t why_size)
{
    struct engine *e = engine_alloc();
    if (!e)
        return -ENOMEM;

    int r = engine_init(e, o, why, why_size);
    if (r < 0) {
        engine_release(e);
        return r;
    }
    *ret = e;
    return 0;
}

/* The compiler process is started, and the arena reserved, while that is still
 * possible; after this, the process can give up its rights. Without the arena,
 * guests cannot share memory. */
int
engine_close(struct engine *e)
{
    int r =
        e->keeps_compiler ? compiler_remote_start(&e->remote, &e->compiler) : 0;

    (void)shares_reserve(&e->shares);
    e->is_closed = true;
    hfd_closep(&e->cache_hfd);
    hfd_closep(&e->shipped_hfd);
    compiler_fini(&e->compiler);
    return r;
}

/* The threads end first. The assertions find machines and programs that their
 * owners have forgotten, since those would use the engine later. */
void
engine_free(OWN struct engine *e)
{
    if (!e)
        return;
    reaper_fini(&e->reaper);
    ticker_fini(&e->ticker);
    programs_drop_kept(e);
    assert(!e->machines);
    assert(list_is_empty(&e->compilations));
    for (size_t i = 0; i < PROGRAM_BUCKETS; i++)
        assert(list_is_empty(&e->programs[i]));
    engine_release(e);
}

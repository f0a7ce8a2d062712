/* Programs: compiled once, shared by content.
 *
 * The table does not count its programs; who takes one from it must not take
 * one that is being freed. Beside it, the engine keeps a reference to all
 * trusted programs and to the untrusted ones used last. */
#include "engine/engine_impl.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_UNTRUSTED_BYTES     (16u << 20)
#define MAX_UNTRUSTED_FUNCTIONS 50000
#define MAX_UNTRUSTED_TABLES    16
#define MAX_UNTRUSTED_LOCALS    2000000
#define MAX_UNTRUSTED_COST      UINT64_C(400000000000) /* some 20 s */
#define MAX_KEPT_BYTES          (64u << 20) /* of untrusted sources */

static void
program_free(struct program *base)
{
    struct engine_program *p = (struct engine_program *)base;

    if (p->engine) {
        pthread_mutex_lock(&p->engine->programs_lock);
        list_remove(&p->bucket);
        pthread_mutex_unlock(&p->engine->programs_lock);
    }
    if (p->pre)
        wasmtime_instance_pre_delete(p->pre);
    if (p->module)
        wasmtime_module_delete(p->module);
    free(p->note);
    free(p);
}

static void
engine_program_put(struct engine_program *p)
{
    if (p)
        program_put(&p->base);
}

DEFINE_CLEANUP(struct engine_program *, engine_program_put)

/* False if it is being freed. */
static bool
program_try_get(struct engine_program *p)
{
    uint32_t refs = p->base.refs;

    while (refs)
        if (atomic_compare_exchange_weak(&p->base.refs, &refs, refs + 1))
            return true;
    return false;
}

/* With programs_lock held. Code that was made for a guest is never used for a
 * trusted program, whatever its source. */
static OWN struct engine_program *
programs_find(struct engine *e, const uint8_t *hash, bool is_trusted)
{
    struct list *bucket = &e->programs[hash[0] % PROGRAM_BUCKETS];

    LIST_FOR_EACH(it, bucket)
    {
        struct engine_program *p =
            CONTAINER_OF(it, struct engine_program, bucket);
        if (memcmp(p->hash, hash, sizeof p->hash) != 0 ||
            (is_trusted && !p->is_trusted) || !program_try_get(p))
            continue;
        if (p->is_kept) {
            list_remove(&p->kept);
            list_push_front(&e->kept, &p->kept);
        }
        return p;
    }
    return NULL;
}

/* With programs_lock held; consumes the engine's own reference. */
static OWN struct engine_program *
programs_unkeep(struct engine *e, struct engine_program *p)
{
    list_remove(&p->kept);
    p->is_kept = false;
    if (!p->is_trusted)
        e->kept_bytes -= p->bytes;
    return p;
}

/* With programs_lock held: the untrusted program used least recently, when
 * they are too many. */
static OWN struct engine_program *
programs_excess(struct engine *e)
{
    if (e->kept_bytes <= MAX_KEPT_BYTES)
        return NULL;
    for (struct list *it = e->kept.prev; it != &e->kept; it = it->prev) {
        struct engine_program *p =
            CONTAINER_OF(it, struct engine_program, kept);
        if (!p->is_trusted)
            return programs_unkeep(e, p);
    }
    return NULL;
}

/* With programs_lock held: enters p, with a reference of the engine. */
static void
programs_keep(struct engine *e, struct engine_program *p)
{
    list_push_front(&e->programs[p->hash[0] % PROGRAM_BUCKETS], &p->bucket);
    list_push_front(&e->kept, &p->kept);
    (void)program_get(&p->base);
    p->is_kept = true;
    if (!p->is_trusted)
        e->kept_bytes += p->bytes;
}

/* Enters p, or drops it in favour of one that another thread has entered
 * meanwhile. */
static OWN struct engine_program *
programs_add(struct engine *e, OWN struct engine_program *p)
{
    struct engine_program *other, *dropped = p;

    pthread_mutex_lock(&e->programs_lock);
    other = programs_find(e, p->hash, p->is_trusted);
    if (!other) {
        programs_keep(e, p);
        dropped = programs_excess(e);
    }
    pthread_mutex_unlock(&e->programs_lock);
    engine_program_put(dropped);
    return other ? other : p;
}

void
programs_drop_kept(struct engine *e)
{
    while (!list_is_empty(&e->kept))
        engine_program_put(programs_unkeep(
            e, CONTAINER_OF(e->kept.next, struct engine_program, kept)));
}

static int
refuse(char *why, size_t why_size, const char *reason)
{
    (void)snprintf(why, why_size, "%s", reason);
    return -ENOEXEC;
}

static int
source_check(const struct program_source *src, struct wasm_facts *ret,
             char *why, size_t why_size)
{
    if (src->len < 8 || memcmp(src->bytes, "\0asm", 4) != 0)
        return refuse(why, why_size, "not a WebAssembly module");
    if (wasm_scan(src->bytes, src->len, ret) < 0)
        return refuse(why, why_size, "damaged WebAssembly module");
    if (src->is_trusted)
        return 0;
    if (src->len > MAX_UNTRUSTED_BYTES)
        return refuse(why, why_size, "module of more than 16 MiB");
    if (ret->functions > MAX_UNTRUSTED_FUNCTIONS)
        return refuse(why, why_size, "module of more than 50000 functions");
    if (ret->tables > MAX_UNTRUSTED_TABLES)
        return refuse(why, why_size, "module of more than 16 tables");
    if (ret->locals > MAX_UNTRUSTED_LOCALS)
        return refuse(why, why_size, "module of more than 2000000 locals");
    if (ret->cost > MAX_UNTRUSTED_COST)
        return refuse(why, why_size, "module with too large functions");
    return 0;
}

/* Sets p->module from the cache, by compiling, or by another process. */
static int
program_compile(struct engine_program *p, struct engine *e,
                const struct program_source *src, char *why, size_t why_size)
{
    if (!src->is_trusted && !e->compiles_in_process)
        return compiler_run(e, src, &p->module, why, why_size);
    if (src->is_trusted)
        p->module = code_cache_find(e, p->hash);
    if (p->module)
        return 0;

    wasmtime_error_t *error =
        wasmtime_module_new(e->wasm, src->bytes, src->len, &p->module);
    if (error) {
        error_text(error, why, why_size);
        return -ENOEXEC;
    }
    if (src->is_trusted)
        code_cache_add(e, p->hash, p->module);
    return 0;
}

static int
program_link(struct engine_program *p, struct engine *e, char *why,
             size_t why_size)
{
    int r = program_check(p, why, why_size);
    if (r < 0)
        return r;

    wasmtime_error_t *error =
        wasmtime_linker_instantiate_pre(e->linker, p->module, &p->pre);
    if (!error)
        return 0;
    error_text(error, why, why_size);
    return -ENOEXEC;
}

/* Only trusted programs may begin in the middle. */
static int
program_take_note(struct engine_program *p, const struct wasm_facts *facts)
{
    if (!facts->note || !p->is_trusted || !p->has_resume)
        return 0;
    p->note = malloc(facts->note_len + 1);
    if (!p->note)
        return -ENOMEM;
    memcpy(p->note, facts->note, facts->note_len);
    p->note_len = facts->note_len;
    return 0;
}

const void *
program_note(struct program *base, size_t *ret_len)
{
    struct engine_program *p = (struct engine_program *)base;

    *ret_len = p->note_len;
    return p->note;
}

static int
program_new(struct engine *e, const struct program_source *src,
            const uint8_t *hash, OWN struct engine_program **ret, char *why,
            size_t why_size)
{
    struct wasm_facts facts;
    int r;

    r = source_check(src, &facts, why, why_size);
    if (r < 0)
        return r;

    CLEANUP(engine_program_putp)
    struct engine_program *p = calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    p->base = (struct program){1, program_free};
    p->bytes = src->len;
    p->is_trusted = src->is_trusted;
    memcpy(p->hash, hash, sizeof p->hash);
    list_init(&p->bucket);
    list_init(&p->kept);

    r = program_compile(p, e, src, why, why_size);
    if (r < 0)
        return r;
    r = program_link(p, e, why, why_size);
    if (r < 0)
        return r;
    r = program_take_note(p, &facts);
    if (r < 0)
        return r;
    /* A child of fork is instantiated anew: it must not start twice. */
    p->can_fork = p->can_fork && !facts.has_start;
    p->engine = e;
    *ret = STEAL(p);
    return 0;
}

int
program_load(struct engine *e, const struct program_source *src,
             OWN struct program **ret, char *why, size_t why_size)
{
    struct engine_program *p;
    uint8_t hash[BLAKE2B_BYTES];
    struct blake2b b;
    int r;

    blake2b_init(&b);
    blake2b_add(&b, src->bytes, src->len);
    blake2b_end(&b, hash);
    pthread_mutex_lock(&e->programs_lock);
    p = programs_find(e, hash, src->is_trusted);
    pthread_mutex_unlock(&e->programs_lock);
    if (!p) {
        r = program_new(e, src, hash, &p, why, why_size);
        if (r < 0)
            return r;
        p = programs_add(e, p);
    }
    *ret = &p->base;
    return 0;
}

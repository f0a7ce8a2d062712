/* The table of programs: compiled once, shared by content. It also contains
 * sources that are not programs, with the reason.
 *
 * The table holds no references to its programs; a lookup must not return one
 * that is being freed, so it succeeds only if it can increment a count above
 * zero. Beside the table, the engine keeps a reference to all trusted programs,
 * and to the untrusted ones used last. The list of compilations works in the
 * same way, without such references. */
#include "engine/program.h"

#include "engine/code.h"
#include "engine/compilation.h"
#include "engine/engine_impl.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_KEPT_BYTES (64u << 20) /* of untrusted sources */

void
program_facts_fini(struct program_facts *f)
{
    free(STEAL(f->section));
}

static void
program_free(struct counted *base)
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
    code_unmap(&p->code);
    program_facts_fini(&p->facts);
    free(p->refusal);
    free(p);
}

OWN struct engine_program *
engine_program_new(struct program_facts *facts, bool is_trusted)
{
    struct engine_program *p = calloc(1, sizeof *p);

    if (!p) {
        program_facts_fini(facts);
        return NULL;
    }
    p->base = (struct program){{1, program_free}, -1};
    p->is_trusted = is_trusted;
    p->facts = *facts;
    facts->section = NULL;
    list_init(&p->bucket);
    list_init(&p->kept);
    return p;
}

void
engine_program_put(OWN struct engine_program *p)
{
    if (p)
        program_put(&p->base);
}

/* Returns false if the count is zero: the program is being freed by another
 * thread, which waits for the lock to take it out of the table. */
static bool
program_try_get(struct counted *p)
{
    uint32_t refs = p->refs;

    while (refs)
        if (atomic_compare_exchange_weak(&p->refs, &refs, refs + 1))
            return true;
    return false;
}

/* With programs_lock held. A trusted program serves untrusted loads too, never
 * the reverse. */
static OWN struct engine_program *
program_find_locked(struct engine *e, const uint8_t *hash, bool is_trusted)
{
    struct list *bucket = &e->programs[hash[0] % PROGRAM_BUCKETS];

    LIST_FOR_EACH(it, bucket) {
        struct engine_program *p =
            CONTAINER_OF(it, struct engine_program, bucket);
        if (memcmp(p->facts.hash, hash, BLAKE2B_BYTES) != 0 ||
            (is_trusted && !p->is_trusted) || !program_try_get(&p->base.ref))
            continue;
        if (p->is_kept) {
            list_remove(&p->kept);
            list_push_front(&e->kept, &p->kept);
        }
        return p;
    }
    return NULL;
}

OWN struct engine_program *
programs_find(struct engine *e, const uint8_t *hash, bool is_trusted)
{
    pthread_mutex_lock(&e->programs_lock);
    struct engine_program *p = program_find_locked(e, hash, is_trusted);
    pthread_mutex_unlock(&e->programs_lock);
    return p;
}

/* With programs_lock held; consumes the engine's own reference. */
static OWN struct engine_program *
programs_unkeep(struct engine *e, struct engine_program *p)
{
    list_remove(&p->kept);
    p->is_kept = false;
    if (!p->is_trusted)
        e->kept_bytes -= p->facts.bytes;
    return p;
}

/* With programs_lock held: returns the least recently used untrusted program if
 * there are too many. */
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

/* With programs_lock held: enters p, with a reference of the engine. The table
 * itself has none; the engine's one keeps the program for its next use. */
static void
programs_keep(struct engine *e, struct engine_program *p)
{
    list_push_front(&e->programs[p->facts.hash[0] % PROGRAM_BUCKETS],
                    &p->bucket);
    list_push_front(&e->kept, &p->kept);
    (void)program_get(&p->base);
    p->is_kept = true;
    if (!p->is_trusted)
        e->kept_bytes += p->facts.bytes;
}

/* The dropped program is released after the lock, which program_free takes. */
OWN struct engine_program *
programs_add(struct engine *e, OWN struct engine_program *p)
{
    struct engine_program *other, *dropped = p;

    pthread_mutex_lock(&e->programs_lock);
    p->engine = e;
    other = program_find_locked(e, p->facts.hash, p->is_trusted);
    if (!other) {
        programs_keep(e, p);
        dropped = programs_excess(e);
    }
    pthread_mutex_unlock(&e->programs_lock);
    engine_program_put(dropped);
    return other ? other : p;
}

/* Called when the engine is freed, by the only thread that is left. */
void
programs_drop_kept(struct engine *e)
{
    while (!list_is_empty(&e->kept))
        engine_program_put(programs_unkeep(
            e, CONTAINER_OF(e->kept.next, struct engine_program, kept)));
}

/* --- what is being compiled */

/* With programs_lock held. */
static OWN struct compilation *
program_find_compilation(struct engine *e, const uint8_t *hash, bool is_trusted)
{
    LIST_FOR_EACH(it, &e->compilations) {
        struct compilation *c = CONTAINER_OF(it, struct compilation, link);
        if (!memcmp(c->hash, hash, sizeof c->hash) &&
            c->is_trusted == is_trusted && program_try_get(&c->base.ref))
            return c;
    }
    return NULL;
}

OWN struct compilation *
compilations_find(struct engine *e, const uint8_t *hash, bool is_trusted)
{
    pthread_mutex_lock(&e->programs_lock);
    struct compilation *c = program_find_compilation(e, hash, is_trusted);
    pthread_mutex_unlock(&e->programs_lock);
    return c;
}

OWN struct compilation *
compilations_add(struct engine *e, OWN struct compilation *c)
{
    pthread_mutex_lock(&e->programs_lock);
    struct compilation *other =
        program_find_compilation(e, c->hash, c->is_trusted);
    if (!other)
        list_push_back(&e->compilations, &c->link);
    pthread_mutex_unlock(&e->programs_lock);
    if (other)
        program_put(&c->base);
    return other ? other : c;
}

void
compilations_remove(struct compilation *c)
{
    pthread_mutex_lock(&c->engine->programs_lock);
    list_remove(&c->link);
    pthread_mutex_unlock(&c->engine->programs_lock);
}

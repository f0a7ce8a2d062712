/* Loading: from a source to a program.
 *
 * A program is first searched by the place of its source in a file, which reads
 * nothing of it. Then it is searched by its content, among the loaded programs
 * and in the cache. Otherwise it is compiled, by a separate process if there is
 * a compiler. */
#include "engine/program.h"

#include "base/hfd.h"
#include "engine/code.h"
#include "engine/code_cache.h"
#include "engine/compilation.h"
#include "engine/engine_impl.h"
#include "engine/jail.h"
#include "engine/scan.h"
#include "engine/shim.h"
#include "engine/traps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bounds on modules of guests, checked before a compiler is started. The cost
 * is the sum of the squares of function sizes (scan.h). */
#define MAX_UNTRUSTED_FUNCTIONS 50000
#define MAX_UNTRUSTED_TABLES    16
#define MAX_UNTRUSTED_LOCALS    2000000
#define MAX_UNTRUSTED_COST      UINT64_C(400000000000) /* some 20 s */
#define MAX_MAPPED_BYTES        (256u << 20) /* of programs at a time */

/* One load on its way. */
struct loading {
    struct engine *e;
    const struct program_source *src;
    uint8_t hash[BLAKE2B_BYTES]; /* of the source, once that was read */
    char *why;
    size_t why_size;
};

/* --- the source */

static int
program_load_refuse(struct loading *l, const char *reason)
{
    (void)snprintf(l->why, l->why_size, "%s", reason);
    return -ENOEXEC;
}

static int
program_load_check_bounds(struct loading *l, const struct wasm_facts *f)
{
    if (l->src->len > COMPILER_MODULE_BYTES)
        return program_load_refuse(l, "module of more than 16 MiB");
    if (f->functions > MAX_UNTRUSTED_FUNCTIONS)
        return program_load_refuse(l, "module of more than 50000 functions");
    if (f->tables > MAX_UNTRUSTED_TABLES)
        return program_load_refuse(l, "module of more than 16 tables");
    if (f->locals > MAX_UNTRUSTED_LOCALS)
        return program_load_refuse(l, "module of more than 2000000 locals");
    if (f->cost > MAX_UNTRUSTED_COST)
        return program_load_refuse(l,
                                   "module with functions that are too large");
    return 0;
}

/* Untrusted modules are bounded here, before anything is started for them. */
static int
program_load_read_source(struct loading *l, struct program_facts *ret)
{
    const struct program_source *src = l->src;
    struct wasm_facts f;

    if (src->len < 8 || memcmp(src->bytes, "\0asm", 4) != 0)
        return program_load_refuse(l, "not a WebAssembly module");
    if (scan_module(src->bytes, src->len, &f) < 0)
        return program_load_refuse(l, "damaged WebAssembly module");
    if (f.has_shared_memory)
        return program_load_refuse(
            l, "the program declares a shared memory, which the engine does "
               "not support: threads use an ordinary one (docs/threads.md)");
    int r = src->is_trusted ? 0 : program_load_check_bounds(l, &f);
    if (r < 0)
        return r;
    *ret = (struct program_facts){.bytes = src->len, .has_start = f.has_start};
    memcpy(ret->hash, l->hash, sizeof ret->hash);
    if (!f.section)
        return 0;
    ret->section = malloc(f.section_len + 1);
    if (!ret->section)
        return -ENOMEM;
    memcpy(ret->section, f.section, f.section_len);
    ret->section_len = f.section_len;
    return 0;
}

/* --- from code to a program */

/* Linking is done once for each program: a machine is then instantiated without
 * looking up any import. */
static int
program_load_link_module(struct loading *l, struct engine_program *p)
{
    int r = program_check(p, l->why, l->why_size);
    if (r < 0)
        return r;

    wasmtime_error_t *error =
        wasmtime_linker_instantiate_pre(l->e->linker, p->module, &p->pre);
    if (!error)
        return 0;
    traps_error_text(error, l->why, l->why_size);
    return -ENOEXEC;
}

/* Enters a source that is no program into the table, with the reason: compiling
 * it again would take as long again. */
static void
program_load_remember_refusal(struct loading *l,
                              OWN struct program_facts *facts)
{
    struct engine_program *p = engine_program_new(facts, l->src->is_trusted);

    if (!p)
        return;
    p->refusal = strdup(l->why);
    if (p->refusal)
        engine_program_put(programs_add(l->e, STEAL(p)));
    engine_program_put(p);
}

/* Creates the program of a module and enters it. `code` is the file that
 * contains the module; NULL if it has memory of its own. */
static int
program_load_make(struct loading *l, OWN struct program_facts *facts,
                  OWN wasmtime_module_t *module, OWN struct code *code,
                  OWN struct engine_program **ret)
{
    CLEANUP(engine_program_putp)
    struct engine_program *p = engine_program_new(facts, l->src->is_trusted);
    if (!p) {
        wasmtime_module_delete(module);
        if (code)
            code_unmap(code);
        return -ENOMEM;
    }
    p->module = module;
    if (code)
        p->code = *code;
    int r = program_load_link_module(l, p);
    if (r == -ENOEXEC)
        program_load_remember_refusal(l, &p->facts);
    if (r != 0)
        return r;
    if (code)
        p->facts.bytes = code->len;
    /* Only trusted programs may begin in the middle. */
    if (!p->is_trusted || !p->has_resume)
        program_facts_fini(&p->facts);
    /* A child of fork is instantiated anew: it must not start twice. */
    p->can_fork = p->can_fork && !p->facts.has_start;
    *ret = programs_add(l->e, STEAL(p));
    return 0;
}

/* --- what is there already. -ENOENT: nothing is */

/* A program that is loaded already is preferred: several places may lead to
 * it. */
static int
program_load_entry(struct loading *l, OWN int entry,
                   OWN struct program_facts *facts,
                   OWN struct engine_program **ret)
{
    CLEANUP(hfd_closep) int hfd = entry;
    struct engine_program *p = programs_find(l->e, facts->hash, true);

    if (p) {
        program_facts_fini(facts);
        *ret = p;
        return 0;
    }
    wasmtime_module_t *module = code_cache_load(l->e, hfd);
    if (module)
        return program_load_make(l, facts, module, NULL, ret);
    program_facts_fini(facts);
    return -ENOENT;
}

/* Only trusted programs are in the cache, and thus have places there. */
static int
program_load_find_by_source(struct loading *l, OWN struct engine_program **ret)
{
    struct program_facts facts;
    int hfd = l->src->is_trusted ? code_cache_find_source(l->e, l->src, &facts)
                                 : -ENOENT;

    return hfd < 0 ? -ENOENT : program_load_entry(l, hfd, &facts, ret);
}

/* An entry that was found by content gets a name for the place of this source,
 * so the next process finds it without reading the source. */
static int
program_load_find_trusted(struct loading *l, OWN struct engine_program **ret)
{
    struct program_facts facts;

    int hfd = code_cache_find(l->e, l->hash, &facts);
    if (hfd < 0) {
        *ret = programs_find(l->e, l->hash, true);
        return *ret ? 0 : -ENOENT;
    }
    int r = program_load_entry(l, hfd, &facts, ret);
    if (r == 0)
        code_cache_add_source(l->e, l->src, l->hash);
    return r;
}

/* A guest's copy of a trusted program is that program: the hash covers all of
 * it, and code that was compiled for a guest is never used for it. A copy of
 * the interpreter therefore needs no compiling, whatever its size. */
static int
program_load_find_by_content(struct loading *l, OWN struct engine_program **ret)
{
    struct program_source src = *l->src;
    struct loading trusted = *l;

    if (src.is_trusted)
        return program_load_find_trusted(l, ret);
    *ret = programs_find(l->e, l->hash, false);
    if (*ret)
        return 0;
    src.is_trusted = true;
    src.file = NULL; /* its place is the guest's */
    trusted.src = &src;
    return program_load_find_trusted(&trusted, ret);
}

/* --- compiling */

/* Makes a program of compiled code in memory. Code of a trusted program goes to
 * the cache first and is loaded from there, so that all processes share its
 * pages. */
static int
program_load_take_code(struct loading *l, OWN struct program_facts *facts,
                       const void *code, size_t len,
                       OWN struct engine_program **ret)
{
    wasmtime_module_t *module = NULL;

    if (l->src->is_trusted) {
        code_cache_add(l->e, facts, code, len);
        int r = program_load_find_by_content(l, ret);
        if (r != -ENOENT) {
            program_facts_fini(facts);
            return r;
        }
    }
    wasmtime_error_t *error =
        wasmtime_module_deserialize(l->e->wasm, code, len, &module);
    if (!error)
        return program_load_make(l, facts, module, NULL, ret);
    program_facts_fini(facts);
    traps_error_text(error, l->why, l->why_size);
    return -ENOEXEC;
}

static int
program_load_compile_here(struct loading *l, OWN struct program_facts *facts,
                          OWN struct engine_program **ret)
{
    wasm_byte_vec_t code;

    wasmtime_error_t *error =
        wsand_engine_precompile(l->e->wasm, l->src->bytes, l->src->len, &code);
    if (error) {
        traps_error_text(error, l->why, l->why_size);
        program_load_remember_refusal(l, facts);
        return -ENOEXEC;
    }
    int r = program_load_take_code(l, facts, code.data, code.size, ret);
    wasm_byte_vec_delete(&code);
    return r;
}

/* Makes a program of code in a file, by mapping it: the process is sealed, and
 * must not make other memory executable. */
static int
program_load_take_file(struct loading *l, OWN struct program_facts *facts,
                       OWN struct code *code, int hfd,
                       OWN struct engine_program **ret)
{
    wasmtime_module_t *module = NULL;
    struct engine *e = l->e;

    code_count(code, &e->code_bytes);
    int r = e->code_bytes > MAX_MAPPED_BYTES ? -ENOMEM : 0;
    wasmtime_error_t *error =
        r < 0 ? NULL
              : code_publisher_load(&e->publisher, e->wasm, code, hfd, &module);
    if (module)
        return program_load_make(l, facts, module, code, ret);
    code_unmap(code);
    program_facts_fini(facts);
    if (!error)
        return r;
    traps_error_text(error, l->why, l->why_size);
    return -ENOEXEC;
}

/* Uses the answer of a compiler. If that failed, a trusted program is compiled
 * in this process: it does not depend on the process. */
static int
program_load_take_answer(struct loading *l, struct compilation *c,
                         OWN struct program_facts *facts,
                         OWN struct engine_program **ret)
{
    struct code code = {0};
    bool is_final = false;

    int r = compilation_take(c, &code, &is_final, l->why, l->why_size);
    if (r == 0 && l->e->is_closed)
        return program_load_take_file(l, facts, &code, c->out_hfd, ret);
    if (r == 0) {
        r = program_load_take_code(l, facts, code.p, code.len, ret);
        code_unmap(&code);
        return r;
    }
    if (l->src->is_trusted)
        return program_load_compile_here(l, facts, ret);
    if (is_final)
        program_load_remember_refusal(l, facts);
    else
        program_facts_fini(facts);
    return r;
}

/* Consumes c, which has ended. Of several threads that wait for it, the first
 * makes the program and the others find it. -EAGAIN: the first failed; the
 * caller tries again from the start. */
static int
program_load_finish_compilation(struct loading *l, OWN struct compilation *c,
                                OWN struct engine_program **ret)
{
    struct program_facts facts;
    int r = -EAGAIN;

    pthread_mutex_lock(&c->lock);
    bool is_first = !c->is_over;
    if (is_first) {
        r = program_load_read_source(l, &facts);
        if (r == 0)
            r = program_load_take_answer(l, c, &facts, ret);
        c->is_over = true;
    }
    pthread_mutex_unlock(&c->lock);
    if (is_first)
        compilations_remove(c);
    program_put(&c->base);
    if (is_first)
        return r;
    *ret = programs_find(l->e, l->hash, l->src->is_trusted);
    return *ret ? 0 : -EAGAIN;
}

static bool
program_load_has_process(const struct loading *l)
{
    const struct engine *e = l->e;

    if (e->compiles_in_process)
        return false;
    /* The process knows the usual settings only. */
    return !l->src->is_trusted || (e->compiler.hfd >= 0 && !e->is_unpreemptive);
}

/* Begins to compile, and consumes the facts. -EINPROGRESS: *ret_c is being
 * compiled. */
static int
program_load_begin(struct loading *l, OWN struct program_facts *facts,
                   OWN struct compilation **ret_c,
                   OWN struct engine_program **ret)
{
    struct compilation *c = NULL;
    int r = -ENOSYS;

    if (program_load_has_process(l))
        r = compilation_start(l->e, l->src, l->hash, &c, l->why, l->why_size);
    if (r < 0 && (l->src->is_trusted || l->e->compiles_in_process))
        return program_load_compile_here(l, facts, ret);
    program_facts_fini(facts);
    if (r < 0)
        return r;
    *ret_c = compilations_add(l->e, c);
    return -EINPROGRESS;
}

/* Compiles, or joins another load of the same source that does. */
static int
program_load_compile(struct loading *l, OWN struct compilation **ret_c,
                     OWN struct engine_program **ret)
{
    struct compilation *c =
        compilations_find(l->e, l->hash, l->src->is_trusted);
    struct program_facts facts;

    if (!c) {
        int r = program_load_read_source(l, &facts);
        return r < 0 ? r : program_load_begin(l, &facts, ret_c, ret);
    }
    if (compilation_has_ended(c))
        return program_load_finish_compilation(l, c, ret);
    *ret_c = c;
    return -EINPROGRESS;
}

/* --- all of it */

/* A closed engine refuses what it does not have. It could neither read the
 * cache nor start a process. */
static int
program_load_find_or_compile(struct loading *l, OWN struct compilation **ret_c,
                             OWN struct engine_program **ret)
{
    int r = program_load_find_by_source(l, ret);
    if (r != -ENOENT)
        return r;
    blake2b_hash(l->src->bytes, l->src->len, l->hash);
    r = program_load_find_by_content(l, ret);
    if (r != -ENOENT || l->src->cached_only)
        return r;
    if (l->e->is_closed && (l->src->is_trusted || !l->e->remote.is_there))
        return program_load_refuse(
            l, "only programs of the root image can be run here");
    return program_load_compile(l, ret_c, ret);
}

int
program_load(struct engine *e, const struct program_source *src,
             OWN struct program **ret, char *why, size_t why_size)
{
    struct loading l = {.e = e, .src = src, .why = why, .why_size = why_size};
    struct engine_program *p = NULL;
    struct compilation *c = NULL;

    int r = program_load_find_or_compile(&l, &c, &p);
    if (r == -EINPROGRESS)
        *ret = &c->base;
    if (r != 0)
        return r;
    if (p->refusal) {
        r = program_load_refuse(&l, p->refusal);
        engine_program_put(p);
        return r;
    }
    *ret = &p->base;
    return 0;
}

const void *
program_section(struct program *base, size_t *ret_len)
{
    const struct engine_program *p = (struct engine_program *)base;

    *ret_len = p->facts.section_len;
    return p->facts.section;
}

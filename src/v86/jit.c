/* The compiler as the core sees it: it replaces the function at an index of the
 * core's table, or leaves the core to interpret.
 *
 * A translation ends in one of two ways. Either all of a module was checked and
 * its code is in the arena, or there is a reason for the refusal, and no
 * code. */
#include "v86/jit.h"

#include "base/os_time.h"
#include "v86/jit_arena.h"
#include "v86/jit_function.h"

#include <errno.h>
#include <stdlib.h>

struct jit {
    struct core *core;
    struct jit_arena *arena;
    void *code[CORE_FUNCTIONS]; /* by index, or NULL */
    const char *refusal;
    struct jit_figures figures;
};

/* Adds code to the arena. If that is full, the core drops all functions, and
 * with them the one that is compiled now: it clears this index when it learns
 * that the function is ready. */
static void *
jit_store(struct jit *jit, const uint8_t *code, size_t bytes)
{
    void *at = jit_arena_add(jit->arena, code, bytes);

    if (at)
        return at;
    jit->figures.evictions++;
    core_drop_code(jit->core);
    return jit_arena_add(jit->arena, code, bytes);
}

static void *
jit_link(struct jit *jit, const struct x64 *x)
{
    uint8_t *code;
    size_t bytes;

    if (x64_link(x, &code, &bytes) < 0)
        return NULL;

    void *at = jit_store(jit, code, bytes);
    free(code);
    jit->figures.code_bytes += bytes;
    return at;
}

static void *
jit_translate(struct jit *jit, const uint8_t *wasm, size_t bytes)
{
    struct jit_module module;
    void *code = NULL;

    jit->refusal = jit_module_parse(&module, wasm, bytes, core_find_symbol);
    if (jit->refusal)
        return NULL;

    struct jit_function *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    x64_init(&f->x);
    jit->refusal =
        jit_function_translate(f, &module, core_memory(jit->core), core_trap);
    if (!jit->refusal)
        code = jit_link(jit, &f->x);
    x64_fini(&f->x);
    free(f);
    return code;
}

static void
jit_clear(void *self, uint32_t index)
{
    struct jit *jit = self;

    if (jit->code[index])
        jit_arena_remove(jit->arena, jit->code[index]);
    jit->code[index] = NULL;
}

static core_code *
jit_compile(void *self, uint32_t index, const uint8_t *wasm, size_t bytes)
{
    struct jit *jit = self;
    int64_t start_ns = time_mono_ns();

    jit_clear(jit, index);
    jit->code[index] = jit_translate(jit, wasm, bytes);
    jit->figures.functions++;
    jit->figures.wasm_bytes += bytes;
    jit->figures.compile_ms += (double)(time_mono_ns() - start_ns) / 1e6;
    return (core_code *)jit->code[index];
}

/* Other processors interpret: the code would not run there. */
static bool
jit_is_supported(void)
{
#ifdef __x86_64__
    return true;
#else
    return false;
#endif
}

int
jit_new(struct core *core, OWN struct jit **ret)
{
    return jit_new_sized(core, JIT_ARENA_BYTES, ret);
}

int
jit_new_sized(struct core *core, size_t code_bytes, OWN struct jit **ret)
{
    if (!jit_is_supported())
        return -ENOTSUP;

    struct jit *jit = calloc(1, sizeof *jit);
    if (!jit)
        return -ENOMEM;

    int r = jit_arena_new(code_bytes, &jit->arena);
    if (r < 0) {
        free(jit);
        return r;
    }
    jit->core = core;
    core_set_compiler(core, &(struct core_compiler){.self = jit,
                                                    .compile = jit_compile,
                                                    .clear = jit_clear});
    *ret = jit;
    return 0;
}

void
jit_free(struct jit *jit)
{
    if (!jit)
        return;
    jit_arena_free(jit->arena);
    free(jit);
}

const char *
jit_refusal(const struct jit *jit)
{
    return jit->refusal;
}

struct jit_figures
jit_figures(const struct jit *jit)
{
    return jit->figures;
}

/* Checks the imports and exports of a module.
 *
 * wasmtime itself checks types when it links. The checks here run before, so
 * that the reason is readable, and so that no later code has to expect a
 * missing memory or an entry with parameters. */
#include "engine/program.h"

#include "engine/imports.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int
program_check_import(const wasm_importtype_t *type, char *why, size_t why_size)
{
    const wasm_name_t *module = wasm_importtype_module(type);
    const wasm_name_t *name = wasm_importtype_name(type);
    const struct import *i =
        import_find(module->data, module->size, name->data, name->size);
    const wasm_functype_t *function =
        wasm_externtype_as_functype_const(wasm_importtype_type(type));

    if (i && function && import_has_type(i, function))
        return 0;
    (void)snprintf(why, why_size, "%s \"%.*s\" \"%.*s\"",
                   i ? "wrong type of import" : "unknown import",
                   (int)(module->size < 64 ? module->size : 64), module->data,
                   (int)(name->size < 64 ? name->size : 64), name->data);
    return -ENOEXEC;
}

static int
program_check_imports(const wasmtime_module_t *module, char *why,
                      size_t why_size)
{
    wasm_importtype_vec_t v;
    int r = 0;

    wasmtime_module_imports(module, &v);
    for (size_t i = 0; i < v.size && !r; i++)
        r = program_check_import(v.data[i], why, why_size);
    wasm_importtype_vec_delete(&v);
    return r;
}

/* Kinds of exports that the engine uses. */
static bool
program_check_is_memory(const wasm_externtype_t *t)
{
    return wasm_externtype_as_memorytype_const(t) != NULL;
}

static bool
program_check_is_entry(const wasm_externtype_t *t)
{
    const wasm_functype_t *f = wasm_externtype_as_functype_const(t);

    return f && !wasm_functype_params(f)->size &&
           !wasm_functype_results(f)->size;
}

static bool
program_check_is_thread_entry(const wasm_externtype_t *t)
{
    const wasm_functype_t *f = wasm_externtype_as_functype_const(t);
    const wasm_valtype_vec_t *v = f ? wasm_functype_params(f) : NULL;

    return v && v->size == 2 && imports_valtype_is(v->data[0], 'i') &&
           imports_valtype_is(v->data[1], 'i') &&
           !wasm_functype_results(f)->size;
}

static bool
program_check_is_variable(const wasm_externtype_t *t)
{
    const wasm_globaltype_t *g = wasm_externtype_as_globaltype_const(t);

    return g && wasm_globaltype_mutability(g) == WASM_VAR &&
           imports_valtype_is(wasm_globaltype_content(g), 'i');
}

/* A table of another type may have values that cannot be read. */
static bool
program_check_is_function_table(const wasm_externtype_t *t)
{
    const wasm_tabletype_t *table = wasm_externtype_as_tabletype_const(t);

    return table && imports_valtype_is(wasm_tabletype_element(table), 'f');
}

/* One bit for each export that was found with the right kind. */
enum {
    HAS_MEMORY = 1,
    HAS_START = 2,
    HAS_RESUME = 4,
    HAS_STACK = 8,
    HAS_STATE = 16,
    HAS_DATA = 32,
    HAS_THREAD = 64,
    HAS_TLS = 128,
    HAS_TABLE = 256,
    HAS_FAULT = 512,
    HAS_ALL_FOR_THREADS = HAS_STACK | HAS_THREAD,
    HAS_ALL_FOR_FAULTS = HAS_STACK | HAS_FAULT,
    HAS_ALL_FOR_FORK = HAS_STACK | HAS_STATE | HAS_DATA,
};

static const struct {
    const char *name;
    bool (*is_right)(const wasm_externtype_t *t);
    unsigned flag;
} exports[] = {
    {"memory", program_check_is_memory, HAS_MEMORY},
    {"_start", program_check_is_entry, HAS_START},
    {"wasmsand_resume", program_check_is_entry, HAS_RESUME},
    {"wasmsand_thread", program_check_is_thread_entry, HAS_THREAD},
    {"wasmsand_fault", program_check_is_entry, HAS_FAULT},
    {"__indirect_function_table", program_check_is_function_table, HAS_TABLE},
    {"__stack_pointer", program_check_is_variable, HAS_STACK},
    {"__tls_base", program_check_is_variable, HAS_TLS},
    {"__asyncify_state", program_check_is_variable, HAS_STATE},
    {"__asyncify_data", program_check_is_variable, HAS_DATA},
};

/* An export with a known name and another kind counts as missing: a guest may
 * use the names for something of its own. */
static unsigned
program_check_export_flag(const wasm_exporttype_t *type)
{
    const wasm_name_t *name = wasm_exporttype_name(type);

    for (size_t i = 0; i < sizeof exports / sizeof *exports; i++)
        if (strlen(exports[i].name) == name->size &&
            !memcmp(exports[i].name, name->data, name->size))
            return exports[i].is_right(wasm_exporttype_type(type))
                       ? exports[i].flag
                       : 0;
    return 0;
}

static unsigned
program_check_export_flags(const wasmtime_module_t *module)
{
    wasm_exporttype_vec_t v;
    unsigned flags = 0;

    wasmtime_module_exports(module, &v);
    for (size_t i = 0; i < v.size; i++)
        flags |= program_check_export_flag(v.data[i]);
    wasm_exporttype_vec_delete(&v);
    return flags;
}

/* A program without the exports for fork is still a program; its fork fails. */
int
program_check(struct engine_program *p, char *why, size_t why_size)
{
    int r = program_check_imports(p->module, why, why_size);
    if (r < 0)
        return r;

    unsigned has = program_check_export_flags(p->module);
    const char *missing = !(has & HAS_MEMORY)  ? "memory"
                          : !(has & HAS_START) ? "_start"
                                               : NULL;
    if (missing) {
        (void)snprintf(why, why_size, "no %s", missing);
        return -ENOEXEC;
    }
    p->has_resume = has & HAS_RESUME;
    p->has_table = has & HAS_TABLE;
    p->has_fault = (has & HAS_ALL_FOR_FAULTS) == HAS_ALL_FOR_FAULTS;
    p->has_threads = (has & HAS_ALL_FOR_THREADS) == HAS_ALL_FOR_THREADS;
    p->has_tls = p->has_threads && has & HAS_TLS;
    p->can_fork = (has & HAS_ALL_FOR_FORK) == HAS_ALL_FOR_FORK;
    return 0;
}

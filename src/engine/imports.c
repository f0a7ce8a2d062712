/* The functions that programs can import, from two tables. All have the types
 * i32 and i64 only, so a row describes its type in letters. */
#include "engine/imports.h"

#include <errno.h>
#include <string.h>

typedef const struct import *import_set(size_t *ret_count);

static import_set *const sets[] = {imports_add_sys, imports_add_wasi};

static bool
imports_is_named(const struct import *i, const char *module, size_t module_len,
                 const char *name, size_t name_len)
{
    return strlen(i->module) == module_len && strlen(i->name) == name_len &&
           !memcmp(i->module, module, module_len) &&
           !memcmp(i->name, name, name_len);
}

/* A linear search: it runs when a program is loaded, not when it runs. */
const struct import *
import_find(const char *module, size_t module_len, const char *name,
            size_t name_len)
{
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        size_t count;
        const struct import *v = sets[s](&count);
        for (size_t i = 0; i < count; i++)
            if (imports_is_named(&v[i], module, module_len, name, name_len))
                return &v[i];
    }
    return NULL;
}

static wasm_valkind_t
imports_kind_of(char letter)
{
    return letter == 'I' ? WASM_I64 : letter == 'f' ? WASM_FUNCREF : WASM_I32;
}

/* Compares types instead of asking for the kind: wasm_valtype_kind ends the
 * process for types that it does not know, which a module can name. */
bool
imports_valtype_is(const wasm_valtype_t *type, char letter)
{
    wasm_valtype_t *wanted = wasm_valtype_new(imports_kind_of(letter));
    bool is_equal = wasmtime_wasm_valtype_equal(type, wanted);

    wasm_valtype_delete(wanted);
    return is_equal;
}

static bool
imports_are_types(const wasm_valtype_vec_t *v, const char *letters,
                  size_t count)
{
    if (v->size != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!imports_valtype_is(v->data[i], letters[i]))
            return false;
    return true;
}

bool
import_has_type(const struct import *i, const wasm_functype_t *type)
{
    return imports_are_types(wasm_functype_params(type), i->params,
                             strlen(i->params)) &&
           imports_are_types(wasm_functype_results(type), &i->result,
                             i->result != 0);
}

static void
imports_types_new(wasm_valtype_vec_t *ret, const char *letters, size_t count)
{
    wasm_valtype_vec_new_uninitialized(ret, count);
    for (size_t i = 0; i < count; i++)
        ret->data[i] = wasm_valtype_new(imports_kind_of(letters[i]));
}

static int
import_define(wasmtime_linker_t *linker, const struct import *i)
{
    wasm_valtype_vec_t params, results;
    wasmtime_error_t *error;

    imports_types_new(&params, i->params, strlen(i->params));
    imports_types_new(&results, &i->result, i->result != 0);
    wasm_functype_t *type = wasm_functype_new(&params, &results);
    if (i->suspend)
        error = wasmtime_linker_define_async_func(
            linker, i->module, strlen(i->module), i->name, strlen(i->name),
            type, i->suspend, (void *)i, NULL);
    else
        error = wasmtime_linker_define_func_unchecked(
            linker, i->module, strlen(i->module), i->name, strlen(i->name),
            type, i->call, (void *)i, NULL);
    wasm_functype_delete(type);
    if (!error)
        return 0;
    wasmtime_error_delete(error);
    return -EINVAL;
}

int
imports_define(wasmtime_linker_t *linker)
{
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        size_t count;
        const struct import *v = sets[s](&count);
        for (size_t i = 0; i < count; i++) {
            int r = import_define(linker, &v[i]);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

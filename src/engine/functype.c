/* The types of functions. The table belongs to the guest, which may put any
 * function there. */
#include "engine/functype.h"

#include "engine/imports.h"

#include <stddef.h>

#define TABLE "__indirect_function_table"

static bool
functype_is_plain(const wasm_valtype_vec_t *v, size_t max)
{
    if (v->size > max)
        return false;
    for (size_t i = 0; i < v->size; i++)
        if (!imports_valtype_is(v->data[i], 'i'))
            return false;
    return true;
}

static int32_t
functype_describe(const wasm_functype_t *type)
{
    const wasm_valtype_vec_t *params = wasm_functype_params(type);
    const wasm_valtype_vec_t *results = wasm_functype_results(type);

    if (!functype_is_plain(params, FUNCTYPE_RESULT - 1) ||
        !functype_is_plain(results, 1))
        return -1;
    return (int32_t)(params->size + results->size * FUNCTYPE_RESULT);
}

int32_t
functype_of(wasmtime_caller_t *caller, uint32_t index)
{
    wasmtime_context_t *context = wasmtime_caller_context(caller);
    wasmtime_extern_t x;
    wasmtime_val_t v;

    if (!wasmtime_caller_export_get(caller, TABLE, sizeof TABLE - 1, &x) ||
        !wasmtime_table_get(context, &x.of.table, index, &v) ||
        wasmtime_funcref_is_null(&v.of.funcref))
        return -1;
    wasm_functype_t *type = wasmtime_func_type(context, &v.of.funcref);
    int32_t r = functype_describe(type);
    wasm_functype_delete(type);
    return r;
}

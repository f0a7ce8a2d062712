/* Functions of the host that programs can import. */
#ifndef ENGINE_IMPORTS_H
#define ENGINE_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <wasmtime.h>

/* One function. `call` is a plain function, and `suspend` may suspend the
 * fiber. */
struct import {
    const char *module, *name;
    const char *params; /* i: i32, I: i64 */
    char result;        /* 'i' or 0 */
    /* One of the two is set; it is called with `row`. */
    wasmtime_func_unchecked_callback_t call;
    wasmtime_func_async_callback_t suspend;
    unsigned row;
};

/* Return the rows of the two modules, `sys` and `wasi_snapshot_preview1`. */
const struct import *imports_add_sys(size_t *ret_count);
const struct import *imports_add_wasi(size_t *ret_count);
/* Returns the row of a function, or NULL. The names are not terminated. */
const struct import *import_find(const char *module, size_t module_len,
                                 const char *name, size_t name_len);
/* `letter` as in params, or f: a reference to a function. */
bool imports_valtype_is(const wasm_valtype_t *type, char letter);
/* Returns true if a module imports the function with its right type. */
bool import_has_type(const struct import *i, const wasm_functype_t *type);
/* Defines all functions in the linker. -EINVAL. */
int imports_define(wasmtime_linker_t *linker);

#endif

/* Facts of a WebAssembly binary that wasmtime does not report. */
#ifndef ENGINE_SCAN_H
#define ENGINE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of a scan. */
struct wasm_facts {
    bool has_start;
    bool has_shared_memory; /* in the sense of WebAssembly: with a flag */
    uint32_t functions, tables;
    uint64_t locals;
    uint64_t cost; /* of compiling: the sum of the squares of function sizes */
    const uint8_t *section; /* of a frozen program (freeze.c), else NULL */
    size_t section_len;
};

/* Scans a module that begins with its eight-byte head. -EINVAL if a section or
 * function ends beyond the module. */
int scan_module(const uint8_t *bytes, size_t len, struct wasm_facts *ret);

#endif

/* A WebAssembly module of the core's dialect: its types, the functions of the
 * core that it imports, and the body of its one function.
 *
 * The bytes are not trusted, because they are made in memory that code of the
 * guest can reach through an error of the core. Everything unexpected is
 * refused with a reason. */
#ifndef V86_JIT_MODULE_H
#define V86_JIT_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core_symbol;

/* Reads bytes up to an end. After an error, all values are 0. */
struct jit_reader {
    const uint8_t *p, *end;
    bool has_failed;
};

uint8_t jit_read_byte(struct jit_reader *r);
/* LEB128 of at most 32 or 64 bits, checked as the standard demands. */
uint32_t jit_read_u32(struct jit_reader *r);
int32_t jit_read_i32(struct jit_reader *r);
int64_t jit_read_i64(struct jit_reader *r);
/* Returns the letter of a value type as in struct core_symbol, or 0. */
char jit_read_type(struct jit_reader *r);

enum {
    JIT_MODULE_BYTES_MAX = 4 << 20,
    JIT_TYPES_MAX = 64,
    JIT_PARAMS_MAX = 5, /* passed in registers, behind the instance */
    JIT_IMPORTS_MAX = 256,
};

/* A type of functions. Letters as in struct core_symbol; result 'v' is none. */
struct jit_type {
    char params[JIT_PARAMS_MAX + 1];
    char result;
};

typedef const struct core_symbol *jit_find_symbol(const char *name, size_t len);

struct jit_module {
    struct jit_type types[JIT_TYPES_MAX];
    const struct core_symbol *imports[JIT_IMPORTS_MAX];
    unsigned type_count, import_count;
    bool has_memory;
    /* Declarations of locals and code of the function, whose type is (i32). */
    struct jit_reader body;
};

/* Returns NULL, or the reason why the bytes are not a module that can be
 * compiled. The module refers to the bytes. */
const char *jit_module_parse(struct jit_module *m, const uint8_t *wasm,
                             size_t bytes, jit_find_symbol *find);

#endif

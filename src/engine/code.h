/* Compiled code of guests, as it is mapped from a file. */
#ifndef ENGINE_CODE_H
#define ENGINE_CODE_H

#include "base/own.h"

#include <pthread.h>
#include <stddef.h>
#include <wasmtime.h>

/* The file of a program's code, mapped read-only. */
struct code {
    const void *p;
    size_t len;
    /* The sum of mapped bytes that includes it, or NULL. */
    _Atomic size_t *total;
};

/* Maps the first `len` bytes of a file read-only. Returns 0 or -errno. */
int code_map(int hfd, size_t len, OWN struct code *ret);
/* Adds the code to a sum, from which code_unmap takes it off. */
void code_count(struct code *c, _Atomic size_t *total);
void code_unmap(struct code *c); /* accepts an empty one */

/* Makes code of a closed engine executable by mapping the pages of its file
 * again. Memory that could ever be written to never becomes executable. */
struct publisher {
    pthread_mutex_t lock; /* guards the rest: one module at a time */
    struct code code;
    int hfd; /* -1: none, memory is made executable as usual */
};

/* Registers the publisher with the configuration. It must outlive the
 * engine. */
void code_publisher_init(struct publisher *p, wasm_config_t *config);
/* Loads the module of mapped code in place. */
wasmtime_error_t *code_publisher_load(struct publisher *p, wasm_engine_t *wasm,
                                      const struct code *code, int hfd,
                                      OWN wasmtime_module_t **ret);

#endif

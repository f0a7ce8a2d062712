/* WASI functions as the tasks of a world would call them. */
#ifndef WORLD_WASI_H
#define WORLD_WASI_H

#include "kernel/kernel.h"

#include <stdint.h>

enum {
#define WASI(name, params, result, how) ROW_##name,
#include "kernel/wasi/wasi.def"
#undef WASI
    WASI_ROWS
};

enum { WASI_ARGS_MAX = 9 };

/* Gives the task arguments and an environment, as exec would. */
int world_wasi_args(struct task *t);
/* Makes a call. Returns a WASI errno, or -EWAIT. */
int32_t world_wasi(struct task *t, unsigned row,
                   const uint64_t args[WASI_ARGS_MAX]);
#define WASI_CALL(t, name, ...) \
    world_wasi(t, ROW_##name, (const uint64_t[WASI_ARGS_MAX]){__VA_ARGS__})

#endif

/* wasi_snapshot_preview1 on top of the kernel, for the engine. */
#ifndef KERNEL_WASI_WASI_H
#define KERNEL_WASI_WASI_H

#include <stdint.h>

struct thread;

/* Calls a function of wasi_snapshot_preview1 by its row in wasi.def, with the
 * raw 64-bit slots of the call as arguments. Returns a WASI errno, or -EWAIT:
 * wait and repeat the call. May set thread->leaving. */
int32_t thread_wasi(struct thread *th, unsigned row, const uint64_t *args);

#endif

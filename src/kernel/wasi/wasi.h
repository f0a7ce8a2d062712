/* wasi_snapshot_preview1: the standard ABI, over the same kernel objects as
 * the sys ABI. Its calls come in through thread_wasi (machine.h). */
#ifndef KERNEL_WASI_WASI_H
#define KERNEL_WASI_WASI_H

#include "base/own.h"

/* What a task keeps for it: rights of descriptors, names of preopens. Made by
 * the first call of a program; gone with exec. */
struct wasi;

void wasi_free(OWN struct wasi *w); /* NULL is fine */

#endif

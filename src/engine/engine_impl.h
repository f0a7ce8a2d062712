/* The engine and its members.
 *
 * Locks: engine.programs_lock, ticker.lock, reaper.lock, shares.lock,
 * remote.lock and publisher.lock. A thread holds at most one of them.
 * compilation.lock comes before them: its holder may take programs_lock,
 * remote.lock or publisher.lock. */
#ifndef ENGINE_ENGINE_IMPL_H
#define ENGINE_ENGINE_IMPL_H

#include "base/list.h"
#include "engine/code.h"
#include "engine/compiler_remote.h"
#include "engine/engine.h"
#include "engine/pagemap.h"
#include "engine/reaper.h"
#include "engine/shares.h"
#include "engine/stack.h"
#include "engine/ticker.h"

#include <pthread.h>
#include <wasmtime.h>

#define PROGRAM_BUCKETS 64

/* An engine. Members above programs_lock are constant after engine_new and
 * engine_close, or have a lock or atomics of their own. */
struct engine {
    wasm_engine_t *wasm;
    wasmtime_linker_t *linker;
    uint32_t max_machines;
    _Atomic uint32_t machines;
    bool is_unpreemptive, compiles_in_process;
    bool is_closed;          /* accepts no more programs */
    char settings[160];      /* everything that compiled code depends on */
    int cache_hfd;           /* folder of compiled code, or -1 */
    int shipped_hfd;         /* a second, read-only folder, or -1 */
    bool shipped_is_checked; /* the owners of that folder were checked */
    struct compiler compiler;
    bool keeps_compiler; /* after closing: as `remote` */
    struct remote remote;
    struct publisher publisher;
    _Atomic size_t code_bytes; /* of guests' programs, mapped from files */
    struct pagemap pagemap;
    size_t stack_page; /* of the host; 0: the use of stacks is unknown */
    struct ticker ticker;
    struct reaper reaper;
    struct shares shares;

    pthread_mutex_t programs_lock;
    struct list programs[PROGRAM_BUCKETS]; /* by hash; without references */
    struct list kept;                      /* with references, the last used
                                            * first */
    size_t kept_bytes;                     /* of untrusted ones */
    struct list compilations;              /* without references */
};

#endif

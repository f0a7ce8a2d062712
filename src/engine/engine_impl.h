/* The engine and its members.
 *
 * Locks, none of which is held while another is taken: engine.programs_lock,
 * ticker.lock, reaper.lock, remote.lock; and compilation.lock, held around the
 * first, the last and publisher.lock. */
#ifndef ENGINE_ENGINE_IMPL_H
#define ENGINE_ENGINE_IMPL_H

#include "base/list.h"
#include "engine/code.h"
#include "engine/compiler_remote.h"
#include "engine/engine.h"
#include "engine/pagemap.h"
#include "engine/reaper.h"
#include "engine/stack.h"
#include "engine/ticker.h"

#include <pthread.h>
#include <wasmtime.h>

#define PROGRAM_BUCKETS 64

struct engine {
    wasm_engine_t *wasm;
    wasmtime_linker_t *linker;
    uint32_t max_machines;
    _Atomic uint32_t machines;
    bool is_unpreemptive, compiles_in_process;
    bool is_closed;     /* no more programs */
    char settings[160]; /* all that compiled code depends on */
    int cache_hfd;      /* folder of compiled code, or -1 */
    int shipped_hfd;    /* another, only read, or -1 */
    struct compiler compiler;
    bool keeps_compiler; /* when it is closed: as `remote` */
    struct remote remote;
    struct publisher publisher;
    _Atomic size_t code_bytes; /* of guests' programs, mapped from files */
    struct pagemap pagemap;
    struct stacks stacks;
    struct ticker ticker;
    struct reaper reaper;

    pthread_mutex_t programs_lock;
    struct list programs[PROGRAM_BUCKETS]; /* by hash; not counted */
    struct list kept;                      /* counted, the last used first */
    size_t kept_bytes;                     /* of untrusted ones */
    struct list compilations;              /* not counted */
};

#endif

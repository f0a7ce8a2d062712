/* The thread that ends time slices by incrementing the epoch. It sleeps while
 * no machine runs, and starts with the first one that does. */
#ifndef ENGINE_TICKER_H
#define ENGINE_TICKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <wasmtime.h>

struct ticker {
    pthread_t os_thread; /* if has_thread */
    wasm_engine_t *wasm;
    uint32_t tick_us;
    /* Machines inside resume. The ticker parks only if there is none. */
    _Atomic uint32_t running;
    _Atomic bool is_parked;
    _Atomic uint32_t epoch; /* as often as the engine's was incremented */

    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Atomic bool has_thread, stops; /* written under lock */
};

/* Prepares the ticker; the thread starts with the first machine that runs. */
void ticker_init(struct ticker *t, wasm_engine_t *wasm, uint32_t tick_us);
void ticker_fini(struct ticker *t);
/* Ends the slices of all machines that run. May be called from any thread or
 * signal handler. */
void ticker_tick(struct ticker *t);
/* Wakes the thread, which is parked or about to park. */
void ticker_unpark(struct ticker *t);
/* Returns false if the host refuses the thread; then a machine would never
 * yield, and must not run. */
bool ticker_start(struct ticker *t);

static inline bool
ticker_is_there(struct ticker *t)
{
    return t->has_thread || ticker_start(t);
}

/* Surrounds each poll of a machine's future, with ticker_leave. */
static inline void
ticker_enter(struct ticker *t)
{
    t->running++;
    if (t->is_parked)
        ticker_unpark(t);
}

static inline void
ticker_leave(struct ticker *t)
{
    t->running--;
}

#endif

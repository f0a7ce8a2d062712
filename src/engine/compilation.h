/* A program that is being compiled, by a process of its own or by the remote
 * compiler.
 *
 * To the kernel it is a program that is not ready: its descriptor becomes
 * readable at the end, and the kernel then loads the same source again. Several
 * loads share one compilation; the last one that gives up ends the process. */
#ifndef ENGINE_COMPILATION_H
#define ENGINE_COMPILATION_H

#include "base/blake2b.h"
#include "base/list.h"
#include "engine/code.h"
#include "kernel/machine.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

struct engine;

/* Freeing it ends the process. */
struct compilation {
    struct program base; /* its hfd becomes readable at the end */
    struct engine *engine;
    uint8_t hash[BLAKE2B_BYTES]; /* of the source */
    bool is_trusted;
    struct list link; /* in engine->compilations, without a reference */

    pthread_mutex_t lock;
    pid_t pid;   /* 0: reaped, or not a child of ours */
    int slot;    /* of the engine's remote; -1: a child of ours */
    int out_hfd; /* its code */
    /* Processor time of the process, known after it was reaped. */
    int64_t cpu_ns;
    bool is_over; /* its answer was read */
};

/* Starts to compile a source. -EAGAIN: too many at a time. -ENOMEM, -ENOEXEC,
 * or another error if the process cannot be started; `why` has the reason. */
int compilation_start(struct engine *e, const struct program_source *src,
                      const uint8_t *hash, OWN struct compilation **ret,
                      char *why, size_t why_size);
/* Returns true if the answer is there; does not wait. */
bool compilation_has_ended(const struct compilation *c);
/* As machine_ops.cost_ns: processor time so far. */
int64_t compilation_cost_ns(struct program *base);
/* After its end, with the lock held: returns the mapped code. -ENOEXEC; then
 * *ret_is_final says whether the same source would fail again. */
int compilation_take(struct compilation *c, OWN struct code *ret,
                     bool *ret_is_final, char *why, size_t why_size);

#endif

/* The runtime that sandboxes share: the engine, threads, the root image, the
 * shell.
 *
 * A runtime outlives its sandboxes, and may be used by any number of threads.
 * Its parts have their own locks; the image and the program of the shell do not
 * change once they are loaded. */
#ifndef LIB_RUNTIME_H
#define LIB_RUNTIME_H

#include "wasmsand.h"

#include "base/own.h"
#include "kernel/machine.h"
#include "lib/crew.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct image;

/* The shell that sandboxes start with (shell.c), created at its first use. */
struct shell_image {
    pthread_mutex_t lock;
    struct program *program;
    uint8_t *memory; /* of an instance that has not run, from live_from */
    uint64_t size, live_from, dead_from, dead_to; /* as in struct machine */
    _Atomic uint32_t n_live;                      /* shells with a machine */
    _Atomic uint32_t n_files; /* with pages of shells (shell_pages_file.c) */
    /* minimum of memory (minimum.c); 0: not known */
    _Atomic uint64_t least_bytes;
    /* of the program, computed when first needed */
    uint8_t hash[32];
    bool has_hash;
};

/* Freed in the order crews, shell, image, engine: threads may still use the
 * others. */
struct wsand_runtime {
    struct engine *engine;
    struct crews crews;
    struct shell_image shell;
    struct image *image; /* NULL: none */
    struct host_file image_file;
    /* Of the file; computed under shell.lock when first needed. */
    uint8_t image_hash[32];
    bool has_image_hash;
};

/* preload.c: loads the programs of the root image; no others can be loaded
 * afterwards. */
int runtime_close(struct wsand_runtime *rt, struct wsand_error *err);
/* runtime.c: like machine_ops.load, but waits for a compilation. */
int runtime_load(struct wsand_runtime *rt, const struct program_source *src,
                 OWN struct program **ret, char *why, size_t why_size);

/* minimum.c: -EINVAL if the shell needs more memory. */
int minimum_check(struct wsand_runtime *rt, uint64_t memory_bytes,
                  struct wsand_error *err);

/* shell.c: loads the program of all shells. -ENOEXEC: the image has none. */
int shell_image_load(struct wsand_runtime *rt);
void shell_image_fini(struct shell_image *si);

#endif

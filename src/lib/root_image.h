/* The root images of a runtime. Each has a name. The first one is "default",
 * and its path may be NULL: sandboxes then start with a few empty folders.
 *
 * An image is mapped and indexed when it is first used, and stays until the
 * runtime is freed: files of sandboxes refer to its bytes without copying them.
 * Its members do not change after that, except those of its shell, which have
 * a lock. */
#ifndef LIB_ROOT_IMAGE_H
#define LIB_ROOT_IMAGE_H

#include "wasmsand.h"

#include "base/own.h"
#include "kernel/machine.h"

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

struct root_image {
    OWN char *name, *path;
    struct image *image; /* NULL: not opened yet, or no path */
    struct host_file file;
    struct shell_image shell;
    /* Of the file; computed under shell.lock when first needed. */
    uint8_t hash[32];
    bool has_hash;
};

/* Copies the name and the path (NULL: none). -ENOMEM: the other functions are
 * allowed nevertheless. */
int root_image_init(struct root_image *i, const char *name, const char *path);
/* Drops the index and the programs, before the engine is freed; root_image_fini
 * unmaps the file afterwards, because the engine may refer to it. */
void root_image_close(struct root_image *i);
void root_image_fini(struct root_image *i);
/* Maps and indexes the image, unless that was done before. Any thread may call
 * it. */
int root_image_open(struct root_image *i, struct wsand_error *err);

#endif

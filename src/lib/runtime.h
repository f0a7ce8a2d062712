/* The runtime that sandboxes share: the engine, threads, root images.
 *
 * A runtime outlives its sandboxes, and may be used by any number of threads.
 * Its parts have their own locks. */
#ifndef LIB_RUNTIME_H
#define LIB_RUNTIME_H

#include "wasmsand.h"

#include "base/own.h"
#include "kernel/machine.h"
#include "lib/crew.h"
#include "lib/root_image.h"

#include <stdbool.h>
#include <stdint.h>

/* Freed in the order crews, images, engine: threads may still use the
 * others. */
struct wsand_runtime {
    struct engine *engine;
    struct crews crews;
    struct root_image *images; /* the first one is "default" */
    size_t n_images;
    OWN char *broker, *resolvers; /* of networks; NULL: none, the host's */
    bool host_loopback;
    int network_hfd; /* of a broker of the owner; 0: none */
};

/* Finds and opens an image by its name; NULL means "default". -EINVAL: the
 * message lists the known names. */
int runtime_find_image(struct wsand_runtime *rt, const char *name,
                       struct root_image **ret, struct wsand_error *err);
/* preload.c: loads the programs of the root images; no others can be loaded
 * afterwards. */
int runtime_close(struct wsand_runtime *rt, struct wsand_error *err);
/* runtime.c: like machine_ops.load, but waits for a compilation. */
int runtime_load(struct wsand_runtime *rt, const struct program_source *src,
                 OWN struct program **ret, char *why, size_t why_size);

/* minimum.c: -EINVAL if the shell of the image needs more memory. */
int minimum_check(struct wsand_runtime *rt, struct root_image *i,
                  uint64_t memory_bytes, struct wsand_error *err);

/* shell.c: loads the program of all shells. -ENOEXEC: the image has none. */
int shell_image_load(struct wsand_runtime *rt, struct root_image *i);
void shell_image_fini(struct shell_image *si);

#endif

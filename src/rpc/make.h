/* A sandbox's options in the making. */
#ifndef RPC_MAKE_H
#define RPC_MAKE_H

#include "rpc/rpc.h"

struct making {
    const struct config *config;
    struct wsand_options o;
    struct kept *kept; /* freed when the sandbox is made */
    struct wsand_mount *mounts;
    struct wsand_mount_limit *limits; /* of host folders */
    struct wsand_program *programs;
    struct wsand_command *commands;
    struct wsand_error *err;
};

/* These are freed with the rest. NULL: no memory. */
void *keep(struct making *m, OWN void *p);
char *keep_printf(struct making *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int no_memory(struct making *m); /* -ENOMEM */

/* The mounts of `mounts`, and one for the Python packages (mounts.c). */
int make_mounts(struct making *m);
int make_python(struct making *m);

#endif

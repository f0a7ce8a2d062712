/* The options of a sandbox, while they are collected from a configuration. */
#ifndef RPC_BUILDER_H
#define RPC_BUILDER_H

#include "rpc/config.h"
#include "rpc/extension.h"
#include "rpc/report.h"
#include "rpc/server_impl.h"

struct builder {
    const struct sandbox_config *config;
    struct wsand_options o;
    struct kept *kept; /* freed when the sandbox is made */
    struct wsand_mount *mounts;
    struct wsand_mount_limit *limits; /* of host folders */
    struct wsand_program *programs;
    struct wsand_command *commands;
    struct wsand_error *err;
};

/* These are freed with the rest. NULL: no memory. */
void *builder_keep(struct builder *m, OWN void *p);
char *builder_printf(struct builder *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int builder_no_memory(struct builder *m); /* -ENOMEM */

/* The mounts of `mounts`, and one for the Python packages (mounts.c). */
int builder_mounts(struct builder *m);
int builder_python(struct builder *m);

#endif

/* Commands and Python packages that the client provides. */
#ifndef RPC_EXTENSION_H
#define RPC_EXTENSION_H

#include "rpc/config.h"

/* The command that lists the extensions of a sandbox, if it has any. */
#define EXTENSIONS_COMMAND "extensions"

struct extension {
    struct sandbox_config *config;
    const struct json *json;
    char *name, *help;
    bool has_command;
};

struct wsand_command extensions_command(const struct sandbox_config *c);
const struct extension *extension_find(const struct sandbox_config *c,
                                       const char *name);
/* Does the work of a host command: asks the client. */
void extension_invoke(void *arg, struct wsand_call *call);

#endif

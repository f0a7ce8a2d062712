/* The configuration of a sandbox: the parameters of `create`, over the defaults
 * of the command line and its file. A sandbox and its forks share one. */
#ifndef RPC_CONFIG_H
#define RPC_CONFIG_H

#include "base/own.h"
#include "wasmsand.h"
#include "wire/message.h"

struct extension;
struct server;

struct sandbox_config {
    atomic_int refs;
    struct server *srv;
    struct message *msg; /* holds params */
    const struct json *params;
    const struct sandbox_config *base; /* has the parameters that are missing */
    bool is_line;                      /* for the line protocol */
    uint64_t timeout_ms, line_timeout_ms, stdout_bytes, stderr_bytes,
        command_bytes, rpc_bytes;
    bool has_storage;
    struct extension *extensions;
    size_t n_extensions;
};

/* params: checked, or NULL. Takes a reference to msg. NULL: no memory. */
struct sandbox_config *config_new(struct server *srv, struct message *msg,
                                  const struct json *params, bool is_line);
struct sandbox_config *config_get(struct sandbox_config *c);
void config_put(struct sandbox_config *c);
DEFINE_CLEANUP(struct sandbox_config *, config_put)

/* Returns a parameter of `create`, or NULL. */
const struct json *config_value(const struct sandbox_config *c,
                                const char *name);
uint64_t config_number(const struct sandbox_config *c, const char *name,
                       uint64_t absent);
uint64_t config_limit(const struct sandbox_config *c, const char *name,
                      uint64_t absent);
/* Returns a number that was checked; NULL is 0. */
uint64_t number_from_json(const struct json *v);

/* Returns the name of the root image of sandboxes that name none. */
const char *config_image(const struct sandbox_config *c);

/* Returns true if creating a sandbox with this image neither reads nor copies
 * host files. */
bool config_is_quick(const struct sandbox_config *c, const char *image);
/* Creates a sandbox as configured, with this image. */
int config_create_sandbox(const struct sandbox_config *c, const char *image,
                          struct wsand_sandbox **ret, struct wsand_error *err);

#endif

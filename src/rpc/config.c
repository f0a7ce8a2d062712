/* The configuration of sandboxes: parameters of `create`, which override those
 * of the configuration file, which override those of the command line.
 *
 * A value that no level has is a default, here or in the library. */
#include "rpc/config.h"

#include "base/image_name.h"
#include "rpc/extension.h"
#include "rpc/server_impl.h"

#include <stdlib.h>
#include <string.h>

enum {
    TIMEOUT_MS = 30000,
    LINE_TIMEOUT_MS = 5000,
    STDIO_BYTES = 1048576,
    COMMAND_BYTES = 65536,
};

/* A parameter of `create` overrides the configuration file, which overrides
 * the command line. */
const struct json *
config_value(const struct sandbox_config *c, const char *name)
{
    for (; c; c = c->base) {
        const struct json *v = json_get(c->params, name);
        if (v && !json_is(v, JSON_NULL))
            return v;
    }
    return NULL;
}

const char *
config_image(const struct sandbox_config *c)
{
    const struct json *v = config_value(c, "image");
    const char *given = c->srv->options->image;

    if (v)
        return json_text(v).p;
    return given ? given : IMAGE_DEFAULT;
}

/* Booleans count as 0 and 1, so that they can be read like limits. */
uint64_t
number_from_json(const struct json *v)
{
    int64_t n = json_is(v, JSON_TRUE);

    (void)json_whole(v, &n);
    return (uint64_t)n;
}

uint64_t
config_number(const struct sandbox_config *c, const char *name, uint64_t absent)
{
    const struct json *v = config_value(c, name);

    return v ? number_from_json(v) : absent;
}

uint64_t
config_limit(const struct sandbox_config *c, const char *name, uint64_t absent)
{
    for (; c; c = c->base) {
        const struct json *v = json_get(json_get(c->params, "limits"), name);
        if (v && !json_is(v, JSON_NULL))
            return number_from_json(v);
    }
    return absent;
}

/* --- help of extensions */

/* Members of other types were rejected by their rows. */
static void
config_put_help_line(struct buf *b, const char *label, const struct json *v)
{
    if (!json_is(v, JSON_STRING))
        return;
    buf_puts(b, label);
    buf_add(b, json_text(v).p, json_text(v).len);
    buf_add(b, "\n", 1);
}

static char *
config_help(const struct json *x, const char *name)
{
    const char *label = "examples:\n  ";
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_puts(&b, name);
    config_put_help_line(&b, ": ", json_get(x, "description"));
    if (b.len && b.p[b.len - 1] != '\n')
        buf_add(&b, "\n", 1);
    config_put_help_line(&b, "usage: ", json_get(x, "usage"));
    config_put_help_line(&b, "category: ", json_get(x, "category"));
    JSON_EACH(example, json_get(x, "examples")) {
        config_put_help_line(&b, label, example);
        label = "  ";
    }
    buf_add(&b, "", 1);
    if (b.error)
        buf_fini(&b);
    return b.p;
}

/* An extension with a Python package needs no command, but may have one. */
static bool
config_has_command(const struct json *x)
{
    const struct json *v = json_get(x, "hasCommand");

    if (!json_is_bool(v))
        return !json_is(json_get(x, "pythonPackage"), JSON_OBJECT);
    return json_is(v, JSON_TRUE);
}

/* An extension points to its configuration, which host commands keep alive:
 * they may run as long as a sandbox exists. */
static bool
config_read_extensions(struct sandbox_config *c)
{
    const struct json *v = config_value(c, "extensions");

    if (!json_count(v))
        return true;
    c->extensions = calloc(json_count(v), sizeof *c->extensions);
    if (!c->extensions)
        return false;
    JSON_EACH(x, v) {
        struct extension *e = &c->extensions[c->n_extensions++];
        const char *name = json_text(json_get(x, "name")).p;
        *e = (struct extension){.config = c,
                                .json = x,
                                .name = strdup(name),
                                .help = config_help(x, name),
                                .has_command = config_has_command(x)};
        if (!e->name || !e->help)
            return false;
    }
    return true;
}

/* --- lifetime */

/* Numbers that each run needs are read once. The time limit has another
 * default in the line protocol. */
static void
config_read_numbers(struct sandbox_config *c)
{
    const struct server_options *o = c->srv->options;
    uint64_t timeout_ms = config_number(c, "timeoutMs", o->timeout_ms);

    c->timeout_ms = timeout_ms ? timeout_ms : TIMEOUT_MS;
    c->line_timeout_ms = timeout_ms ? timeout_ms : LINE_TIMEOUT_MS;
    c->stdout_bytes = config_limit(c, "stdoutBytes", STDIO_BYTES);
    c->stderr_bytes = config_limit(c, "stderrBytes", STDIO_BYTES);
    c->command_bytes = config_limit(c, "commandBytes", COMMAND_BYTES);
    c->rpc_bytes = config_limit(c, "rpcBytes", RPC_BYTES);
    const struct json *storage = config_value(c, "storage");
    c->has_storage = storage && !json_is(storage, JSON_FALSE);
}

/* The configuration points into the message of `create`, so it holds a
 * reference. */
struct sandbox_config *
config_new(struct server *srv, struct message *msg, const struct json *params,
           bool is_line)
{
    CLEANUP(config_putp) struct sandbox_config *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    *c = (struct sandbox_config){.refs = 1,
                                 .srv = srv,
                                 .msg = msg ? message_get(msg) : NULL,
                                 .params = params,
                                 .is_line = is_line,
                                 .base = srv->defaults};
    config_read_numbers(c);
    return config_read_extensions(c) ? STEAL(c) : NULL;
}

struct sandbox_config *
config_get(struct sandbox_config *c)
{
    c->refs++;
    return c;
}

/* The last sandbox that was created or forked with the configuration frees it.
 */
void
config_put(struct sandbox_config *c)
{
    if (!c || --c->refs)
        return;
    for (size_t i = 0; i < c->n_extensions; i++) {
        free(c->extensions[i].name);
        free(c->extensions[i].help);
    }
    free(c->extensions);
    message_put(c->msg);
    free(c);
}

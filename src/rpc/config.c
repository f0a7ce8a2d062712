/* How sandboxes are made: the parameters of `create`, over those of the
 * configuration file, over the command line's, over the defaults. */
#include "rpc/rpc.h"
#include "wire/whole.h"

#include <stdlib.h>
#include <string.h>

enum {
    TIMEOUT_MS = 30000,
    LINE_TIMEOUT_MS = 5000,
    STDIO_BYTES = 1048576,
    COMMAND_BYTES = 65536,
};

struct value
config_value(const struct config *c, const char *name)
{
    for (; c; c = c->base) {
        const json_t *v = json_object_get(c->params, name);
        if (v && !json_is_null(v))
            return (struct value){c->msg, v};
    }
    return (struct value){NULL, NULL};
}

uint64_t
number_from_json(const json_t *v)
{
    int64_t n = json_is_true(v);

    (void)json_whole(v, &n);
    return (uint64_t)n;
}

uint64_t
config_number(const struct config *c, const char *name, uint64_t absent)
{
    struct value v = config_value(c, name);

    return v.json ? number_from_json(v.json) : absent;
}

uint64_t
config_limit(const struct config *c, const char *name, uint64_t absent)
{
    for (; c; c = c->base) {
        const json_t *v =
            json_object_get(json_object_get(c->params, "limits"), name);
        if (v && !json_is_null(v))
            return number_from_json(v);
    }
    return absent;
}

/* --- help of extensions */

static void
put_help_line(struct buf *b, const char *label, const json_t *v,
              const struct message *msg)
{
    if (!json_is_string(v))
        return;
    buf_puts(b, label);
    buf_add(b, message_text(msg, v).p, message_text(msg, v).len);
    buf_add(b, "\n", 1);
}

static char *
make_help(const struct message *msg, const json_t *x, const char *name)
{
    size_t i;
    json_t *example;
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_puts(&b, name);
    put_help_line(&b, ": ", json_object_get(x, "description"), msg);
    if (b.len && b.p[b.len - 1] != '\n')
        buf_add(&b, "\n", 1);
    put_help_line(&b, "usage: ", json_object_get(x, "usage"), msg);
    put_help_line(&b, "category: ", json_object_get(x, "category"), msg);
    json_array_foreach(json_object_get(x, "examples"), i, example)
        put_help_line(&b, i ? "  " : "examples:\n  ", example, msg);
    buf_add(&b, "", 1);
    if (b.error)
        buf_fini(&b);
    return b.p;
}

static bool
has_command(const json_t *x)
{
    const json_t *v = json_object_get(x, "hasCommand");

    if (!json_is_boolean(v))
        return !json_is_object(json_object_get(x, "pythonPackage"));
    return json_is_true(v);
}

static bool
read_extensions(struct config *c)
{
    struct value v = config_value(c, "extensions");
    size_t i;
    json_t *x;

    if (!json_array_size(v.json))
        return true;
    c->extensions = calloc(json_array_size(v.json), sizeof *c->extensions);
    if (!c->extensions)
        return false;
    json_array_foreach(v.json, i, x)
    {
        struct extension *e = &c->extensions[c->n_extensions++];
        const char *name = message_text(v.msg, json_object_get(x, "name")).p;
        *e = (struct extension){.config = c,
                                .msg = v.msg,
                                .json = x,
                                .name = strdup(name),
                                .help = make_help(v.msg, x, name),
                                .has_command = has_command(x)};
        if (!e->name || !e->help)
            return false;
    }
    return true;
}

/* --- lifetime */

static void
read_numbers(struct config *c)
{
    const struct server_options *o = c->srv->options;
    uint64_t timeout_ms = config_number(c, "timeoutMs", o->timeout_ms);

    c->timeout_ms = timeout_ms ? timeout_ms : TIMEOUT_MS;
    c->line_timeout_ms = timeout_ms ? timeout_ms : LINE_TIMEOUT_MS;
    c->stdout_bytes = config_limit(c, "stdoutBytes", STDIO_BYTES);
    c->stderr_bytes = config_limit(c, "stderrBytes", STDIO_BYTES);
    c->command_bytes = config_limit(c, "commandBytes", COMMAND_BYTES);
    c->rpc_bytes = config_limit(c, "rpcBytes", RPC_BYTES);
    struct value storage = config_value(c, "storage");
    c->has_storage = storage.json && !json_is_false(storage.json);
}

struct config *
config_new(struct server *srv, struct message *msg, const json_t *params,
           bool is_line)
{
    CLEANUP(config_putp) struct config *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    *c = (struct config){.refs = 1,
                         .srv = srv,
                         .msg = msg ? message_get(msg) : NULL,
                         .params = params,
                         .is_line = is_line,
                         .base = srv->defaults};
    read_numbers(c);
    return read_extensions(c) ? STEAL(c) : NULL;
}

struct config *
config_get(struct config *c)
{
    c->refs++;
    return c;
}

void
config_put(struct config *c)
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

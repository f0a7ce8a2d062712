/* The command `extensions`, which tells a guest of the client's extensions. The
 * server has all that it says, so the client is not asked. */
#include "rpc/extension.h"

#include <string.h>

static const char help[] =
    "usage: extensions list\n"
    "       extensions info NAME\n"
    "\n"
    "  list       names and descriptions of all extensions\n"
    "  info NAME  description, usage, category, examples and package version\n";

const struct extension *
extension_find(const struct sandbox_config *c, const char *name)
{
    for (size_t i = 0; i < c->n_extensions; i++)
        if (!strcmp(c->extensions[i].name, name))
            return &c->extensions[i];
    return NULL;
}

static struct text
extensions_text(const struct json *v)
{
    return json_is(v, JSON_STRING) ? json_text(v) : (struct text){"", 0};
}

/* One line for each extension, with its description if there is one. */
static void
extensions_put_list(struct buf *out, const struct sandbox_config *c)
{
    size_t width = 0;

    for (size_t i = 0; i < c->n_extensions; i++) {
        size_t len = strlen(c->extensions[i].name);
        width = len > width ? len : width;
    }
    for (size_t i = 0; i < c->n_extensions; i++) {
        const struct extension *e = &c->extensions[i];
        struct text t = extensions_text(json_get(e->json, "description"));
        if (t.len)
            buf_printf(out, "%-*s  %s\n", (int)width, e->name, t.p);
        else
            buf_printf(out, "%s\n", e->name);
    }
}

static void
extensions_put_info(struct buf *out, const struct extension *e)
{
    const struct json *package = json_get(e->json, "pythonPackage");
    struct text version = extensions_text(json_get(package, "version"));
    struct text summary = extensions_text(json_get(package, "summary"));

    buf_puts(out, e->help);
    if (version.len)
        buf_printf(out, "python package: %s %s\n", e->name, version.p);
    if (summary.len)
        buf_printf(out, "summary: %s\n", summary.p);
}

/* The exit status. */
static int
extensions_answer(const struct sandbox_config *c, const char *const *argv,
                  struct buf *out, struct buf *err)
{
    const char *verb = argv[0] && argv[1] ? argv[1] : "--help";
    const char *name = argv[0] && argv[1] ? argv[2] : NULL;

    if (!strcmp(verb, "list") && !name) {
        extensions_put_list(out, c);
    } else if (!strcmp(verb, "info") && name && !argv[3]) {
        const struct extension *e = extension_find(c, name);
        if (e)
            extensions_put_info(out, e);
        else
            buf_printf(err,
                       "extensions: there is no extension '%s'; 'extensions "
                       "list' shows all\n",
                       name);
    } else if (!strcmp(verb, "--help") || !strcmp(verb, "-h")) {
        buf_puts(out, help);
    } else {
        buf_printf(err, "extensions: unknown argument '%s'\n%s", verb, help);
    }
    return err->len ? 1 : 0;
}

/* The command runs in the server itself, and needs no answer of the client. */
static void
extensions_invoke(void *arg, struct wsand_call *call)
{
    struct buf out, err;

    buf_init(&out, SIZE_MAX);
    buf_init(&err, SIZE_MAX);
    int status =
        extensions_answer(arg, wsand_call_info(call)->argv, &out, &err);
    wsand_call_reply(call, status, out.p, out.error ? 0 : out.len, err.p,
                     err.error ? 0 : err.len);
    buf_fini(&out);
    buf_fini(&err);
}

struct wsand_command
extensions_command(const struct sandbox_config *c)
{
    return (struct wsand_command){.name = EXTENSIONS_COMMAND,
                                  .help = help,
                                  .invoke = extensions_invoke,
                                  .arg = (void *)c};
}

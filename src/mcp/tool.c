/* The tools as a table (tools.def): schemas, checks and translation. */
#include "mcp/tool.h"

#include "base/buf.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A row without the name of a tool is an argument or a member of the result of
 * the tool above it. */
struct tool_row {
    struct tool tool;
    struct param param; /* an argument */
    const char *to, *text;
    const char *out, *from, *type; /* a member of the result */
};

#define TOOL(n, handler, m, h, t) \
    {.tool = {.name = (n),        \
              .method = (m),      \
              .hints = (h),       \
              .text = (t),        \
              .done = done_##handler}},
#define ARG(n, ty, need, lo, hi, t, d) \
    {.to = (t), .text = (d), .param = {n, ty, need, lo, hi}},
#define OUT(n, f, ty, need) \
    {.out = (n), .from = (f), .type = (ty), .param = {.is_required = (need)}},
static const struct tool_row rows[] = {
#include "mcp/tools.def"
};
#undef TOOL
#undef ARG
#undef OUT
enum { N_ROWS = sizeof rows / sizeof *rows };

static const struct tool_row *
row_of(const struct tool *t)
{
    return (const void *)t;
}

/* Returns the row after r of the same tool, or NULL. */
static const struct tool_row *
row_next(const struct tool_row *r)
{
    r++;
    return r < rows + N_ROWS && !r->tool.name ? r : NULL;
}

#define EACH_ROW(it, t)                                               \
    for (const struct tool_row *it = row_next(row_of(t)); it != NULL; \
         it = row_next(it))

const struct tool *
tool_find(struct text name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].tool.name && name.p && text_is(name, rows[i].tool.name))
            return &rows[i].tool;
    return NULL;
}

/* --- schemas */

static void
put_arg_schema(struct buf *b, const struct tool_row *r)
{
    static const char *const types[] = {
        [STRING] = "\"string\"",
        [TEXT] = "\"string\"",
        [ENV] = "\"object\",\"additionalProperties\":{\"type\":\"string\"}",
        [BOOL] = "\"boolean\"",
        [INT] = "\"integer\"",
        [ID] = "[\"string\",\"integer\"]",
        [ENCODING] = "\"string\",\"enum\":[\"text\",\"base64\"]",
    };

    put_name(b, r->param.name);
    buf_puts(b, "{\"type\":");
    buf_puts(b, types[r->param.type]);
    if (r->param.type == INT) {
        put_number(b, "minimum", (uint64_t)r->param.least);
        put_number(b, "maximum", (uint64_t)r->param.most);
    }
    if (*r->text)
        put_member(b, "description", r->text);
    buf_puts(b, "}");
}

static void
put_out_schema(struct buf *b, const struct tool_row *r)
{
    put_name(b, r->out);
    buf_puts(b, "{");
    put_member(b, "type", r->type);
    if (!strcmp(r->type, "array"))
        buf_puts(b, ",\"items\":{\"type\":\"object\"}");
    buf_puts(b, "}");
}

/* Appends the schema of the arguments, or (is_out) of the result. */
static void
put_schema(struct buf *b, const struct tool *t, bool is_out)
{
    bool has_one = false;

    buf_puts(b, "{\"type\":\"object\",\"properties\":{");
    EACH_ROW(r, t)
    if (is_out && r->out)
        put_out_schema(b, r);
    else if (!is_out && r->param.name)
        put_arg_schema(b, r);
    buf_puts(b, "},\"required\":[");
    EACH_ROW(r, t)
    {
        const char *name = is_out ? r->out : r->param.name;
        if (!name || !r->param.is_required)
            continue;
        buf_puts(b, has_one ? "," : "");
        put_text(b, name);
        has_one = true;
    }
    buf_puts(b, "]");
    if (!is_out)
        put_bool(b, "additionalProperties", false);
    buf_puts(b, "}");
}

static bool
has_out(const struct tool *t)
{
    EACH_ROW(r, t)
    if (r->out)
        return true;
    return false;
}

static void
put_tool(struct buf *b, const struct tool *t)
{
    buf_puts(b, "{");
    put_member(b, "name", t->name);
    put_member(b, "description", t->text);
    put_name(b, "inputSchema");
    put_schema(b, t, false);
    if (has_out(t)) {
        put_name(b, "outputSchema");
        put_schema(b, t, true);
    }
    buf_puts(b, ",\"annotations\":{");
    buf_puts(b, t->hints);
    buf_puts(b, "}}");
}

void
tool_put_list(struct buf *b)
{
    buf_puts(b, "[");
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].tool.name) {
            buf_puts(b, i ? "," : "");
            put_tool(b, &rows[i].tool);
        }
    buf_puts(b, "]");
}

/* --- arguments and results */

static bool
has_arg(const struct tool *t, struct text name)
{
    EACH_ROW(r, t)
    if (r->param.name && text_is(name, r->param.name))
        return true;
    return false;
}

int
tool_check(const struct tool *t, const struct json *args,
           char error[PARAM_ERROR_BYTES])
{
    if (args && !json_is(args, JSON_OBJECT)) {
        (void)snprintf(error, PARAM_ERROR_BYTES, "arguments must be an object");
        return -EINVAL;
    }
    JSON_EACH_KEY(key, args)
        if (!has_arg(t, json_text(key))) {
            (void)snprintf(error, PARAM_ERROR_BYTES,
                           "Unknown argument: %.99s (tool %s)",
                           json_text(key).p, t->name);
            return -EINVAL;
        }
    EACH_ROW(r, t)
    {
        const struct param_check c = {&r->param, error};
        if (r->param.name && param_check_path(&c, args, r->param.name) < 0)
            return -EINVAL;
    }
    return 0;
}

void
tool_put_params(struct buf *b, const struct tool *t, const struct json *args)
{
    EACH_ROW(r, t)
    {
        const struct json *v =
            r->param.name ? json_get(args, r->param.name) : NULL;
        if (!v || json_is(v, JSON_NULL) || !*r->to)
            continue;
        put_name(b, r->to);
        json_put(b, v);
    }
}

/* Ids are strings in results: the type of the row decides. */
static void
put_out(struct buf *b, const struct tool_row *r, const struct json *v)
{
    put_name(b, r->out);
    if (!strcmp(r->type, "string") && !json_is(v, JSON_STRING)) {
        buf_puts(b, "\"");
        json_put(b, v);
        buf_puts(b, "\"");
    } else {
        json_put(b, v);
    }
}

void
tool_put_result(struct buf *b, const struct tool *t, const struct json *result)
{
    EACH_ROW(r, t)
    {
        const struct json *v =
            r->out && *r->from ? json_get(result, r->from) : NULL;
        if (v)
            put_out(b, r, v);
    }
}

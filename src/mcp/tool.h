/* The tools as rows: their schemas, and both directions of their translation.
 */
#ifndef MCP_TOOL_H
#define MCP_TOOL_H

#include "base/own.h"
#include "wire/method.h"

struct buf;
struct call;

struct tool {
    const char *name, *method, *hints, *text;
    /* Takes the result of the server's method, or (result NULL) the text of
     * its error. Ends the call, or asks the server again. */
    void (*done)(OWN struct call *q, const struct json *result,
                 const char *error);
};

#define TOOL(n, handler, m, h, t)                                  \
    void done_##handler(struct call *q, const struct json *result, \
                        const char *error);
#define ARG(n, ty, need, lo, hi, t, d)
#define OUT(n, from, type, need)
#include "mcp/tools.def"
#undef TOOL
#undef ARG
#undef OUT

/* Returns NULL if there is no such tool. */
const struct tool *tool_find(struct text name);
/* Appends the array of all tools with their schemas. */
void tool_put_list(struct buf *b);
/* Checks the arguments, an object or NULL. -EINVAL: `error` says why. */
int tool_check(const struct tool *t, const struct json *args,
               char error[PARAM_ERROR_BYTES]);
/* Appends the arguments that are parameters of the server's method, as members
 * of an open object. */
void tool_put_params(struct buf *b, const struct tool *t,
                     const struct json *args);
/* Appends the members of the server's result that the tool returns, as members
 * of an open object. */
void tool_put_result(struct buf *b, const struct tool *t,
                     const struct json *result);

#endif

/* The table of methods: those of sessions, and those of the sandbox in them. */
#include "supervisor/session/methods.h"

#include "supervisor/session/sessions.h"

#include <string.h>

static const struct method rows[] = {
#define METHOD(name, handler, flags, result, doc) \
    {name, sizeof name - 1, do_##handler, flags, SESSION, NULL, {0}},
#define PARAM(name, type, need, least, most, doc) \
    {NULL, 0, NULL, 0, 0, NULL, {name, type, need, least, most}},
#include "supervisor/session/sessions.def"
#undef METHOD
#undef PARAM

/* A session has most methods of the server, and refuses others with advice. It
 * does not know the rest, whose advice is empty. */
#define METHOD(name, handler, flags, where, instead, result, doc)             \
    {name,                                                                    \
     sizeof name - 1,                                                         \
     NULL,                                                                    \
     PREFIXED |                                                               \
         ((where)&SESSION ? ROUTED | ((flags)&URGENT) : NO_SESSION | URGENT), \
     (where)&SESSION || sizeof(instead) > 1 ? SESSION : 0,                    \
     (where)&SESSION ? NULL : (instead),                                      \
     {0}},
#define PARAM(name, type, need, least, most, doc)
#include "rpc/methods.def"
#undef METHOD
#undef PARAM
};

enum { N_ROWS = sizeof rows / sizeof *rows };
_Static_assert((size_t)N_ROWS <= METHODS_MAX, "too few counters");

/* `stream` is for HTTP, whatever is asked. */
static bool
session_methods_is_common(const struct method *m, const char *name)
{
    return !strcmp(name, "stream") ||
           (!strcmp(name, "sessionId") && !(m->flags & NO_SESSION));
}

const struct method_table session_methods = {rows, N_ROWS, SESSION, "session.",
                                             session_methods_is_common};

size_t
method_index(const struct method *m)
{
    return (size_t)(m - rows);
}

const char *
method_name(size_t index)
{
    return index < N_ROWS && rows[index].where ? rows[index].name : NULL;
}

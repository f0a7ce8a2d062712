/* The tables of methods. */
#include "rpc/methods.h"

#include <string.h>

static const struct method rows[] = {
#define METHOD(name, handler, flags, where, instead, result, doc) \
    {name, sizeof name - 1, do_##handler, flags, where, NULL, {0}},
#define PARAM(name, type, need, least, most, doc) \
    {NULL, 0, NULL, 0, 0, NULL, {name, type, need, least, most}},
#include "rpc/methods.def"
#include "rpc/worker.def"
#undef METHOD
#undef PARAM
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static bool
method_is_common(const struct method *m, const char *name)
{
    (void)m;
    return !strcmp(name, "sandboxId");
}

const struct method_table server_methods = {rows, N_ROWS, SERVER, NULL,
                                            method_is_common};
const struct method_table worker_methods = {rows, N_ROWS, ALL, NULL,
                                            method_is_common};

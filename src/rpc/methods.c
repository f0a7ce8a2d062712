/* Finding methods and the rows of their parameters. */
#include "rpc/methods.h"

#include <string.h>

static const struct method rows[] = {
#define METHOD(name, handler, flags, result, doc) \
    {name, sizeof name - 1, do_##handler, flags, {0}},
#define PARAM(name, type, need, least, most, doc) \
    {NULL, 0, NULL, 0, {name, type, need, least, most}},
#include "rpc/methods.def"
#include "rpc/worker.def"
#undef METHOD
#undef PARAM
};

static const struct method *const rows_end = rows + sizeof rows / sizeof *rows;

const struct method *
method_find(struct text name, bool is_line)
{
    for (const struct method *m = rows; m < rows_end; m++)
        if (m->name_len == name.len && m->name &&
            !(m->flags & LINE) == !is_line &&
            !memcmp(m->name, name.p, name.len))
            return m;
    return NULL;
}

int
method_check(const struct method *m, const struct message *msg,
             const json_t *params, char error[PARAM_ERROR_BYTES])
{
    for (const struct method *row = m + 1; row < rows_end && !row->name;
         row++) {
        int r = param_check(&row->param, msg, params, error);
        if (r < 0)
            return r;
    }
    return 0;
}

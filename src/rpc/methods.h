/* The rows of methods.def. */
#ifndef RPC_METHODS_H
#define RPC_METHODS_H

#include "wire/method.h"
#include "wire/param.h"

struct request;

/* A method, followed in the table by the rows of its parameters. */
struct method {
    const char *name; /* NULL: the row is a parameter */
    size_t name_len;
    void (*handle)(struct request *q);
    unsigned flags, where;
    struct param param;
};

/* is_line: of the line protocol. NULL: there is none. */
const struct method *method_find(struct text name, bool is_line);
/* 0, or -EINVAL and what is wrong with the parameters (an object or NULL). */
int method_check(const struct method *m, const struct json *params,
                 char error[PARAM_ERROR_BYTES]);

/* Every handler answers its request once, now or later. */
#define METHOD(name, handler, flags, where, instead, result, doc) \
    void do_##handler(struct request *q);
#define PARAM(name, type, need, least, most, doc)
#include "rpc/methods.def"
#include "rpc/worker.def"
#undef METHOD
#undef PARAM

#endif

/* Tables of methods: rpc/methods.def, which the server and the supervisor read,
 * and the supervisor's sessions.def. A front end builds its table from these
 * files; calls are found and checked by its rows alone. */
#ifndef WIRE_METHOD_H
#define WIRE_METHOD_H

#include "wire/param.h"

struct call;

enum method_flags {
    AT_ONCE = 1,
    EARLY = 2,
    NO_SANDBOX = 4,
    ROOT = 8,
    LINE = 16,
    BESIDE = 32,
    READS = 64,
    URGENT = 128,
    NO_SESSION = 256, /* takes no sessionId */
    ROUTED = 512,     /* the worker of the session serves and checks it */
    PREFIXED = 1024,  /* also found with the prefix of the table */
    VISIT = 2048,
};

/* Where a method exists. */
enum method_where {
    SERVER = 1,  /* in the server on standard input and output */
    SESSION = 2, /* for clients of the supervisor, in a session */
    WORKER = 4,  /* between the supervisor and its worker */
    ALL = SERVER | SESSION | WORKER,
};

/* A method, followed in the table by the rows of its parameters. */
struct method {
    const char *name; /* NULL: the row is a parameter */
    size_t name_len;
    /* Answers its call once, now or later. */
    void (*handle)(struct call *q);
    unsigned flags, where;
    const char *refusal; /* advice; calls of the method are refused */
    struct param param;
};

struct method_table {
    const struct method *rows;
    size_t n;
    unsigned where;     /* only methods that exist there are found */
    const char *prefix; /* of PREFIXED methods; NULL: none */
    /* Returns true for parameters that the method has without a row. */
    bool (*is_common)(const struct method *m, const char *name);
};

/* Finds a method of the JSON-RPC protocol, or (is_line) of the line protocol.
 * NULL: there is none. */
const struct method *method_find(const struct method_table *t, struct text name,
                                 bool is_line);
/* Checks the parameters, an object or NULL, against the rows of the method.
 * -EINVAL: `error` says which one is wrong. */
int method_check(const struct method_table *t, const struct method *m,
                 const struct json *params, char error[PARAM_ERROR_BYTES]);
bool method_is(const struct method *m, const char *name);

#endif

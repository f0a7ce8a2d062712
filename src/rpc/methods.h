/* The methods of the server: its tables, and the handlers of methods.def and
 * worker.def. Every handler answers its call once, now or later. */
#ifndef RPC_METHODS_H
#define RPC_METHODS_H

#include "wire/method.h"

extern const struct method_table server_methods;
/* Those of a worker, which also knows the methods that a session does not
 * have: it refuses them with a reason. */
extern const struct method_table worker_methods;

#define METHOD(name, handler, flags, where, instead, result, doc) \
    void do_##handler(struct call *q);
#define PARAM(name, type, need, least, most, doc)
#include "rpc/methods.def"
#include "rpc/worker.def"
#undef METHOD
#undef PARAM

#endif

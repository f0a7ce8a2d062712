/* The methods of the supervisor: its table, and the handlers of sessions.def.
 * Each handler answers its call once, now or later. */
#ifndef SUPERVISOR_METHODS_H
#define SUPERVISOR_METHODS_H

#include "wire/method.h"

/* Methods of the sandbox (rpc/methods.def) are found as `X` and `session.X`. */
extern const struct method_table session_methods;

/* Each method has an index below METHODS_MAX; the name of an index, or NULL. */
size_t method_index(const struct method *m);
const char *method_name(size_t index);

#define METHOD(name, handler, flags, result, doc) \
    void do_##handler(struct call *q);
#define PARAM(name, type, need, least, most, doc)
#include "supervisor/session/sessions.def"
#undef METHOD
#undef PARAM

#endif

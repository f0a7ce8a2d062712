/* The handlers of sessions.def. Each answers its call once, now or later. */
#ifndef SUPERVISOR_METHODS_H
#define SUPERVISOR_METHODS_H

#include "supervisor/session/call.h"

#define METHOD(name, handler, flags, result, doc) \
    void do_##handler(struct call *q);
#define PARAM(name, type, need, least, most, doc)
#include "supervisor/session/sessions.def"
#undef METHOD
#undef PARAM

#endif

/* JSON text that is passed on as it is: checked, and its members found, without
 * making a tree of it. */
#ifndef WIRE_SCAN_H
#define WIRE_SCAN_H

#include "wire/text.h"

enum { SCAN_DEPTH_MAX = 64 };

/* Is this one JSON value: strict, UTF-8, nested at most SCAN_DEPTH_MAX deep?
 * Names that come twice in an object are not looked for. */
bool scan_is_json(struct text t);

/* The members of an object, each checked as it is come to. */
struct member {
    struct text name;  /* as it is written, without the quotes */
    struct text value; /* as it is written */
};
struct scan {
    const char *at, *end;
    bool has_more; /* a member must follow, after a comma */
};
/* False: it is not an object. */
bool scan_object(struct text t, struct scan *ret);
/* The next member; false: there are no more, or what follows is none. */
bool scan_next(struct scan *s, struct member *ret);
/* After the last member: was that a whole object, and nothing else? */
bool scan_is_over(const struct scan *s);
bool text_is(struct text t, const char *s);
/* Reads a whole number without sign, at most 18 digits. */
bool text_number(struct text t, uint64_t *ret);

#endif

/* Numbers of JSON as integers. */
#ifndef WIRE_WHOLE_H
#define WIRE_WHOLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define WHOLE_MAX 9e15 /* a double has all integers up to here */

/* 1, 1.0 and 1e3 are integers. False, and *ret stays: v is none, or NULL. */
static inline bool
json_whole(const json_t *v, int64_t *ret)
{
    double d = json_is_real(v) ? json_real_value(v) : WHOLE_MAX;
    bool is_whole = d > -WHOLE_MAX && d < WHOLE_MAX && (double)(int64_t)d == d;

    if (json_is_integer(v))
        *ret = json_integer_value(v);
    else if (is_whole)
        *ret = (int64_t)d;
    return json_is_integer(v) || is_whole;
}

#endif

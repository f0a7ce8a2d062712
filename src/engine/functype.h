/* The types of functions that a program calls through pointers. */
#ifndef ENGINE_FUNCTYPE_H
#define ENGINE_FUNCTYPE_H

#include <stdint.h>
#include <wasmtime.h>

enum { FUNCTYPE_RESULT = 8 };

/* Returns the number of parameters of the function at `index` of the caller's
 * exported table (program->has_table), plus FUNCTYPE_RESULT if it has a result.
 * Returns -1 if there is no such function, or if its type has more than seven
 * parameters, more than one result, or another type than i32. */
int32_t functype_of(wasmtime_caller_t *caller, uint32_t index);

#endif

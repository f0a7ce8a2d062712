/* SPDX-License-Identifier: MIT */
/* Calls through the type that a function really has.
 *
 * A call through a pointer traps if the function was defined with another type,
 * while other machines leave the surplus arguments in their registers. Programs
 * rely on that: handlers without a parameter, threads without a result. The
 * engine knows the type of each function, so such a function is called with
 * what it takes. */
#include "wsys.h"

/* The number of parameters, plus 8 if there is a result; -1 for a function with
 * others than 32-bit integers. */
SYS_IMPORT("functype") int __wfunc_type(uintptr_t func);

#define RESULT 8

long
__wcall(uintptr_t func, long a, long b, long c)
{
    switch (__wfunc_type(func)) {
    case 0:
        ((void (*)(void))func)();
        return 0;
    case 1:
        ((void (*)(long))func)(a);
        return 0;
    case 2:
        ((void (*)(long, long))func)(a, b);
        return 0;
    case RESULT:
        return ((long (*)(void))func)();
    case RESULT + 1:
        return ((long (*)(long))func)(a);
    case RESULT + 2:
        return ((long (*)(long, long))func)(a, b);
    case RESULT + 3:
        return ((long (*)(long, long, long))func)(a, b, c);
    default:
        ((void (*)(long, long, long))func)(a, b, c);
        return 0;
    }
}

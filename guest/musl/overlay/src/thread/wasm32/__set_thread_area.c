/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include "wsys.h"

uintptr_t __wtp;

weak void __wtls_enter(void); /* only in a program that makes threads */

int
__set_thread_area(void *p)
{
    __wtp = (uintptr_t)p;
    if (__wtls_enter)
        __wtls_enter();
    return 0;
}

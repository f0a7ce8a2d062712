/* SPDX-License-Identifier: MIT */
#include <stdint.h>

uintptr_t __wtp;

int
__set_thread_area(void *p)
{
    __wtp = (uintptr_t)p;
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "copy.h"

void *
memcpy(void *restrict d, const void *restrict s, size_t n)
{
    copy(d, s, n);
    return d;
}

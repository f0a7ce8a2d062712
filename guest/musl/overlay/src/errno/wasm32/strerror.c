/* SPDX-License-Identifier: MIT */
/* Messages of errors, also of numbers that have none. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "locale_impl.h"

static const char *const text[] = {
#define E(number, message) [number] = message,
#include "../__strerror.h"
};

char *
__strerror_l(int e, locale_t loc)
{
    static char unknown[32];

    (void)loc;
    if (e >= 0 && (size_t)e < sizeof text / sizeof *text && text[e])
        return (char *)text[e];
    snprintf(unknown, sizeof unknown, "Unknown error %d", e);
    return unknown;
}

char *
strerror(int e)
{
    return __strerror_l(e, NULL);
}

weak_alias(__strerror_l, strerror_l);

/* SPDX-License-Identifier: MIT */
/* For tests of the guest's libc: plain programs, for Linux and for the sandbox;
 * exit status 0 when all is well. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(cond)                                                       \
    do {                                                                  \
        if (!(cond)) {                                                    \
            fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, \
                    #cond, errno);                                        \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

/* The call fails with this error number. */
#define FAILS(call, error)          \
    do {                            \
        errno = 0;                  \
        CHECK((long)(call) == -1L); \
        CHECK(errno == (error));    \
    } while (0)

static inline uint32_t
random32(void)
{
    static uint32_t s = 2463534242u;

    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return s;
}

#endif

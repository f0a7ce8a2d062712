/* CHECK for programs that use the libc. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(cond)                                                         \
    do {                                                                    \
        if (!(cond)) {                                                      \
            printf("%s:%d: not true: %s (%s)\n", __FILE__, __LINE__, #cond, \
                   strerror(errno));                                        \
            exit(1);                                                        \
        }                                                                   \
    } while (0)

#endif

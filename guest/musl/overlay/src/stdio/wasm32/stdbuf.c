/* SPDX-License-Identifier: MIT */
/* The buffers that `stdbuf` wants for the standard streams of programs that it
 * starts: _STDBUF_I, _STDBUF_O and _STDBUF_E in the environment, each L or a
 * size. On other systems a preloaded library reads these variables. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stdio_impl.h"

#define PREFIX "_STDBUF_"

static void
set_buffer(FILE *f, const char *mode)
{
    char *end, *buf;
    unsigned long size = strtoul(mode, &end, 10);

    if (!strcmp(mode, "L"))
        setvbuf(f, NULL, _IOLBF, 0);
    else if (end == mode || *end)
        fprintf(stderr, "invalid buffering mode %s for %s\n", mode,
                f == stdin ? "stdin" : f == stdout ? "stdout" : "stderr");
    else if (!size)
        setvbuf(f, NULL, _IONBF, 0);
    else if (size < PTRDIFF_MAX && (buf = malloc(size + UNGET)))
        setvbuf(f, buf, _IOFBF, size + UNGET);
    else
        fprintf(stderr, "failed to allocate a %lu byte stdio buffer\n", size);
}

void
__wstdbuf(char **env)
{
    for (; *env; env++) {
        const char *var = *env;

        if (*var != '_' || strncmp(var, PREFIX, sizeof PREFIX - 1))
            continue;
        var += sizeof PREFIX - 1;
        if (var[0] && var[1] == '=')
            set_buffer(var[0] == 'I'   ? stdin
                       : var[0] == 'O' ? stdout
                                       : stderr,
                       var + 2);
    }
}

/* SPDX-License-Identifier: MIT */
/* fork. In an object of its own, so that only a program that forks imports
 * sys.fork, has to be asyncified, and carries the buffer that asyncify unwinds
 * the stack into.
 *
 * The buffer's bounds are exported as __asyncify_buffer and
 * __asyncify_buffer_end, for the host. A program with deep stacks brings its
 * own, larger one (WASMSAND_FORK_BUFFER in <wasmsand.h>); this one is then left
 * out. */
#include "wsys.h"

SYS_IMPORT("fork") long __wfork_call(void);

extern char __asyncify_buffer[];

long
__wfork(void)
{
    /* A use of the buffer, for the linker to take it in. */
    __asm__ __volatile__("" : : "r"(__asyncify_buffer));

    long r = __wfork_call();

    if (__wsig_pending)
        __wsig_deliver();
    return r;
}

/* SPDX-License-Identifier: MIT */
/* Checks that <bits/stdio_inline.h> agrees with musl's FILE. */
#include <bits/stdio_inline.h>
#include <stddef.h>
#include "stdio_impl.h"

#define SAME(ours, theirs)                                \
    _Static_assert(offsetof(struct __stdio_head, ours) == \
                       offsetof(struct _IO_FILE, theirs), \
                   #theirs)
SAME(__rpos, rpos);
SAME(__rend, rend);
SAME(__wpos, wpos);
SAME(__wend, wend);
SAME(__lbf, lbf);

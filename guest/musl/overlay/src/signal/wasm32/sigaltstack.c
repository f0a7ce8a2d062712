/* SPDX-License-Identifier: MIT */
/* Handlers are called by the libc (wsys.c), so the stack is switched there. The
 * kernel knows it too: after a stack overflow, there is no other one. */
#include <errno.h>
#include <signal.h>
#include "pthread_impl.h"
#include "syscall.h"
#include "wsys.h"

static int
fail(int error)
{
    errno = error;
    return -1;
}

int
sigaltstack(const stack_t *restrict ss, stack_t *restrict old)
{
    stack_t before = __waltstack(), now = {0};

    if (ss) {
        if (before.ss_flags & SS_ONSTACK)
            return fail(EPERM);
        if (ss->ss_flags && ss->ss_flags != SS_DISABLE &&
            ss->ss_flags != SS_ONSTACK)
            return fail(EINVAL);
        if (!(ss->ss_flags & SS_DISABLE)) {
            if (ss->ss_size < MINSIGSTKSZ)
                return fail(ENOMEM);
            now = (stack_t){.ss_sp = ss->ss_sp, .ss_size = ss->ss_size};
        }
        __pthread_self()->waltstack = now;
        __syscall(SYS_sigaltstack, &now, 0);
    }
    if (old)
        *old = before;
    return 0;
}

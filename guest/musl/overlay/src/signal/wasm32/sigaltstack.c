/* SPDX-License-Identifier: MIT */
/* Remembered and given back, as a program may ask for it; handlers run on the
 * ordinary stack all the same (SA_ONSTACK is accepted). */
#include <errno.h>
#include <signal.h>

static stack_t current = {.ss_flags = SS_DISABLE};

int
sigaltstack(const stack_t *restrict ss, stack_t *restrict old)
{
    stack_t before = current;

    if (ss && ss->ss_flags & ~SS_DISABLE) {
        errno = EINVAL;
        return -1;
    }
    if (ss && !(ss->ss_flags & SS_DISABLE) && ss->ss_size < MINSIGSTKSZ) {
        errno = ENOMEM;
        return -1;
    }
    if (ss)
        current = ss->ss_flags & SS_DISABLE
                      ? (stack_t){.ss_flags = SS_DISABLE}
                      : *ss;
    if (old)
        *old = before;
    return 0;
}

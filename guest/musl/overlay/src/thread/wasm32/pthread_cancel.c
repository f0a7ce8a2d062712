/* SPDX-License-Identifier: MIT */
/* The only thread there is to cancel is the caller. The request takes effect at
 * its next cancellation point, or at once if cancellation is asynchronous. */
#define _GNU_SOURCE
#include <errno.h>
#include "pthread_impl.h"
#include "syscall.h"

static int
is_due(pthread_t self)
{
    return self->cancel && self->canceldisable == PTHREAD_CANCEL_ENABLE;
}

void
__testcancel(void)
{
    if (is_due(__pthread_self()))
        pthread_exit(PTHREAD_CANCELED);
}

long
__syscall_cp_c(syscall_arg_t nr, syscall_arg_t a, syscall_arg_t b,
               syscall_arg_t c, syscall_arg_t d, syscall_arg_t e,
               syscall_arg_t f)
{
    pthread_t self = __pthread_self();

    if (self->cancel && nr != SYS_close) {
        if (self->canceldisable == PTHREAD_CANCEL_MASKED) {
            self->canceldisable = PTHREAD_CANCEL_DISABLE;
            return -ECANCELED;
        }
        __testcancel();
    }
    return __syscall(nr, a, b, c, d, e, f);
}

int
pthread_cancel(pthread_t thread)
{
    if (thread != __pthread_self())
        return ESRCH;
    thread->cancel = 1;
    if (thread->cancelasync)
        __testcancel();
    return 0;
}

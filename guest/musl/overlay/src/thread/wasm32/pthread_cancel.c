/* SPDX-License-Identifier: MIT */
/* Cancellation. A request is a flag and a signal. Handlers run only inside
 * system calls, so the code that they interrupt is known: a cancellation point.
 * It tests the flag before its call, and again after a call that the signal has
 * ended. No request is missed between the two tests, because a call does not
 * wait while a signal is due. */
#define _GNU_SOURCE
#include <string.h>
#include "pthread_impl.h"
#include "syscall.h"

hidden long __cancel(void), __syscall_cp_c();

long
__cancel(void)
{
    pthread_t self = __pthread_self();

    if (self->canceldisable == PTHREAD_CANCEL_ENABLE || self->cancelasync)
        pthread_exit(PTHREAD_CANCELED);
    self->canceldisable = PTHREAD_CANCEL_DISABLE;
    return -ECANCELED;
}

long
__syscall_cp_c(syscall_arg_t nr, syscall_arg_t a, syscall_arg_t b,
               syscall_arg_t c, syscall_arg_t d, syscall_arg_t e,
               syscall_arg_t f)
{
    pthread_t self = __pthread_self();
    int may_cancel =
        self->canceldisable != PTHREAD_CANCEL_DISABLE && nr != SYS_close;
    long r;

    if (may_cancel && self->cancel)
        return __cancel();
    r = __syscall(nr, a, b, c, d, e, f);
    return may_cancel && r == -EINTR && self->cancel ? __cancel() : r;
}

void
__testcancel(void)
{
    pthread_t self = __pthread_self();

    if (self->cancel && self->canceldisable == PTHREAD_CANCEL_ENABLE)
        __cancel();
}

static void
cancel_handler(int sig, siginfo_t *si, void *context)
{
    pthread_t self = __pthread_self();

    (void)sig, (void)si, (void)context;
    if (self->cancel && self->cancelasync &&
        self->canceldisable == PTHREAD_CANCEL_ENABLE)
        __cancel();
}

int
pthread_cancel(pthread_t t)
{
    static int init;

    if (!init) {
        struct sigaction sa = {.sa_flags = SA_SIGINFO,
                               .sa_sigaction = cancel_handler};

        memset(&sa.sa_mask, -1, _NSIG / 8);
        __libc_sigaction(SIGCANCEL, &sa, 0);
        init = 1;
    }
    a_store(&t->cancel, 1);
    if (t != __pthread_self())
        return pthread_kill(t, SIGCANCEL);
    if (t->canceldisable == PTHREAD_CANCEL_ENABLE && t->cancelasync)
        pthread_exit(PTHREAD_CANCELED);
    return 0;
}

/* Threads of the host. Inline, so that src/base itself calls no function of the
 * operating system. */
#ifndef BASE_OS_THREAD_H
#define BASE_OS_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* Starts a thread. All signals are blocked in it except those raised by its own
 * faults. wasmtime's traps must arrive; signals of the process belong to the
 * host and not to the library. -EAGAIN. */
static inline int
os_thread_start(pthread_t *ret, void *(*run)(void *), void *arg)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    sigset_t mask, old;
    int r;

    sigfillset(&mask);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&mask, faults[i]);
    (void)pthread_sigmask(SIG_SETMASK, &mask, &old);
    r = pthread_create(ret, NULL, run, arg);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -r;
}

#endif

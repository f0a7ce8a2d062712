/* Threads of the host. Inline, so that src/base itself calls no function of
 * the operating system: the layers above it that are portable do not include
 * this. */
#ifndef BASE_OS_THREAD_H
#define BASE_OS_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* Starts a thread. Returns 0 or -EAGAIN.
 *
 * The thread blocks all signals except those raised by its own faults.
 * wasmtime's traps arrive as such signals; all others belong to the program
 * that uses the library, whose threads must get them. The mask is set in the
 * caller, because a new thread inherits it: no signal can arrive before the
 * thread could block it. */
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

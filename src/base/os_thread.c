/* Threads of the host. */
#include "base/os_thread.h"

#include <signal.h>

int
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

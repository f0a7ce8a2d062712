/* Threads of the host. */
#ifndef BASE_OS_THREAD_H
#define BASE_OS_THREAD_H

#include <pthread.h>

/* Starts a thread. All signals are blocked in it except those raised by its own
 * faults. wasmtime's traps must arrive; signals of the process belong to the
 * host and not to the library. -EAGAIN. */
int os_thread_start(pthread_t *ret, void *(*run)(void *), void *arg);

#endif

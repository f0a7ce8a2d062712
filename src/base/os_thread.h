/* Threads of the host. */
#ifndef BASE_OS_THREAD_H
#define BASE_OS_THREAD_H

#include <pthread.h>

/* Starts one with all signals blocked but those that a fault of its own
 * raises: signals of the process are not for the library. -EAGAIN. */
int os_thread_start(pthread_t *ret, void *(*run)(void *), void *arg);

#endif

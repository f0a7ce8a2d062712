/* SPDX-License-Identifier: MIT */
/* Stacks of detached threads that have ended. A thread cannot unmap the stack
 * it runs on: another one could get the pages and use them before it is gone.
 * So it adds itself to a list, linked by `next`, which no longer links it to
 * other threads. It holds the lock of the thread list, which the kernel
 * releases when the thread has ended: the next holder of the lock may unmap. */
#include <sys/mman.h>
#include "pthread_impl.h"
#include "syscall.h"
#include "wsys.h"

static pthread_t dead;

_Noreturn void
__unmapself(void *base, size_t size)
{
    pthread_t self = __pthread_self();

    (void)base, (void)size; /* as in self */
    self->next = dead;
    dead = self;
    for (;;)
        __syscall(SYS_exit, 0);
}

void
__wthread_reap(void)
{
    while (dead) {
        pthread_t t = dead;

        dead = t->next;
        __munmap(t->map_base, t->map_size);
    }
}

/* SPDX-License-Identifier: MIT */
/* The stack of the first thread is at the beginning of memory. */
#define _GNU_SOURCE
#include "pthread_impl.h"

extern char __stack_high[];

int
pthread_getattr_np(pthread_t t, pthread_attr_t *a)
{
    *a = (pthread_attr_t){0};
    a->_a_detach = t->detach_state >= DT_DETACHED;
    a->_a_guardsize = t->guard_size;
    a->_a_stackaddr = (uintptr_t)(t->stack ? t->stack : __stack_high);
    a->_a_stacksize = t->stack ? t->stack_size : (uintptr_t)__stack_high;
    return 0;
}

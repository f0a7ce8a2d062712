/* SPDX-License-Identifier: MIT */
/* vfork without copying a stack. <unistd.h> has
 *
 *   #define vfork() \
 *       (setjmp(__wvfork_slot()) ? __wvfork_pid() : __wvfork_begin())
 *
 * From __wvfork_begin on, the kernel counts this instance's calls as those of a
 * new process that shares our memory. When that process ends, or has its own
 * image after execve, the kernel counts them as the parent's again, and we jump
 * back to where vfork was called.
 *
 * As with every vfork, a function that called it must not return in the child:
 * its frame is what we jump back into. */
#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>
#include "pthread_impl.h"
#include "wsys.h"

#define DEPTH 4 /* a vfork child may vfork (posix_spawn, system) */

/* Of one thread: other threads run while this one is a vfork child. */
struct __wvfork {
    struct {
        jmp_buf env;
        pid_t pid;
    } child[DEPTH];
    unsigned depth;
};

static struct __wvfork of_first; /* thread */

/* The thread's own block, or NULL without memory. */
static struct __wvfork *
state(void)
{
    pthread_t self = __pthread_self();

    if (!self->wvfork)
        self->wvfork = self->stack ? calloc(1, sizeof of_first) : &of_first;
    return self->wvfork;
}

void
__wvfork_free(void)
{
    pthread_t self = __pthread_self();

    if (self->wvfork != &of_first)
        free(self->wvfork);
    self->wvfork = 0;
}

struct __jmp_buf_tag *
__wvfork_slot(void)
{
    static jmp_buf unused; /* begin is about to fail */
    struct __wvfork *v = state();

    return v && v->depth < DEPTH ? v->child[v->depth].env : unused;
}

pid_t
__wvfork_begin(void)
{
    struct __wvfork *v = state();
    long r = v && v->depth < DEPTH ? __syscall(SYS_vfork) : -EAGAIN;

    if (r < 0)
        return __syscall_ret(r);
    v->child[v->depth++].pid = r;
    return 0;
}

pid_t
__wvfork_pid(void)
{
    const struct __wvfork *v = __pthread_self()->wvfork;

    return v->child[v->depth].pid;
}

void
__wvfork_end(void)
{
    struct __wvfork *v = __pthread_self()->wvfork;

    if (!v || !v->depth)
        return;
    v->depth--;
    longjmp(v->child[v->depth].env, 1);
}

/* For a caller that has no macro, as through a function pointer: there is no
 * frame to come back to. */
#undef vfork
pid_t
vfork(void)
{
    errno = ENOSYS;
    return -1;
}

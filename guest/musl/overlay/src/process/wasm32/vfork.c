/* SPDX-License-Identifier: MIT */
/* vfork without copying a stack. <unistd.h> has
 *
 *   #define vfork() (setjmp(__wvfork_slot()) ? __wvfork_pid : __wvfork_begin())
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
#include <unistd.h>
#include "syscall.h"
#include "wsys.h"

#define DEPTH 4 /* a vfork child may vfork (posix_spawn, system) */

static struct {
    jmp_buf env;
    pid_t pid;
} child[DEPTH];
static unsigned depth;

pid_t __wvfork_pid;

struct __jmp_buf_tag *
__wvfork_slot(void)
{
    static jmp_buf unused; /* begin is about to fail */

    return depth < DEPTH ? child[depth].env : unused;
}

pid_t
__wvfork_begin(void)
{
    long r = depth < DEPTH ? __syscall(SYS_vfork) : -EAGAIN;

    if (r < 0)
        return __syscall_ret(r);
    child[depth++].pid = r;
    return 0;
}

void
__wvfork_end(void)
{
    if (!depth)
        return;
    depth--;
    __wvfork_pid = child[depth].pid;
    longjmp(child[depth].env, 1);
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

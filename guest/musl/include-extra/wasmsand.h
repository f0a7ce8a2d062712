/* SPDX-License-Identifier: MIT */
/* Functions of the sandbox beyond POSIX. */
#ifndef _WASMSAND_H
#define _WASMSAND_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define __WASMSAND_SYS(name) \
    __attribute__((__import_module__("sys"), __import_name__(name)))

/* For a resident program (a shell, a pre-initialised interpreter): reports the
 * exit status of the last command and gives the memory to the host. The host
 * continues in the exported function wasmsand_resume, once for each command, on
 * a stack as deep as that of this call. It abandons the frames above, so this
 * function returns only in a program that asyncify rewinds. */
__WASMSAND_SYS("next") int wasmsand_next(int status);

/* Called before wasmsand_next: zeroes and unmaps free parts of a large heap.
 * Returns the end of the part in use, or 0 if the heap is too small for it. */
size_t wasmsand_trim(void);

/* The argument block of the process, in the form of process entry on Linux
 * (argc, argv, 0, envp, 0, auxv, strings), with pointers that are valid in
 * `block`. wasmsand_resume needs it: a process that starts from a template has
 * other arguments than its main received. */
__WASMSAND_SYS("args_size") size_t wasmsand_args_size(void);
__WASMSAND_SYS("args_get") void wasmsand_args_get(void *block, size_t size);

/* Signal handlers run inside system calls. A loop that makes none calls
 * wasmsand_poll() now and then: one load when no signal waits. */
extern volatile int __wsig_pending;
void __wsig_poll(void);

static __inline void
wasmsand_poll(void)
{
    if (__builtin_expect(__wsig_pending, 0))
        __wsig_poll();
}

/* At file level, in a program that calls fork with deep stacks: the memory that
 * asyncify unwinds the stack into, in place of libc's 64 KiB. */
/* clang-format off */
#define WASMSAND_FORK_BUFFER(bytes)                                            \
    __asm__(".section .bss.__asyncify_buffer,\"\",@\n"                         \
            ".p2align 4\n"                                                     \
            __WASMSAND_BSS(__asyncify_buffer, bytes)                           \
            __WASMSAND_BSS(__asyncify_buffer_end, 16))
#define __WASMSAND_BSS(name, bytes)                                            \
    ".globl " #name "\n"                                                       \
    ".export_name " #name ", " #name "\n"                                      \
    #name ":\n"                                                                \
    ".skip " #bytes "\n"                                                       \
    ".size " #name ", " #bytes "\n"
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif

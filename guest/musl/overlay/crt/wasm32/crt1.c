/* SPDX-License-Identifier: MIT */
/* Process entry. The kernel passes one block in the form that Linux uses: argc,
 * argv, 0, envp, 0, auxv pairs, 0 0, then the strings. The block is copied to
 * the start of the heap, because it may be larger than the stack. */
#include <features.h>
#include <stddef.h>
#include <stdint.h>
#include "libc.h"

#define SYS(name) __attribute__((import_module("sys"), import_name(name)))
SYS("args_size") size_t __wargs_size(void);
SYS("args_get") void __wargs_get(void *block, size_t size);
SYS("sigword") void __wsigword(volatile int *word);

extern unsigned char __heap_base[];
extern uintptr_t __wheap_start;
extern volatile int __wsig_pending;

extern char **__environ;

void __wstdbuf(char **env);
void __wasm_call_ctors(void);
int __libc_start_main(int (*)(int, char **, char **), int, char **,
                      void (*)(void), void (*)(void), void (*)(void));

/* clang calls main(int, char **) "__main_argc_argv", and gives main(void) the
 * name "main" with two arguments that it ignores. A main with envp would be
 * "main" with three arguments, which the linker replaces by a trap with no more
 * than a warning. Such a program must rename its main to __main_envp. */
weak int __main_argc_argv(int, char **);
weak int __main_envp(int, char **, char **);
weak int __main_plain(int, char **) __asm__("main");

void
_init(void)
{
    __wstdbuf(__environ);
    __wasm_call_ctors();
}

static int
call_main(int argc, char **argv, char **envp)
{
    if (__main_argc_argv)
        return __main_argc_argv(argc, argv);
    if (__main_envp)
        return __main_envp(argc, argv, envp);
    return __main_plain(argc, argv);
}

/* Claims size bytes at the start of the heap, before the page allocator. */
static void *
heap_claim(size_t size)
{
    uintptr_t start = ((uintptr_t)__heap_base + 15) & -16ul;
    uintptr_t end = start + size;
    uintptr_t have = (uintptr_t)__builtin_wasm_memory_size(0) << 16;

    if (end > have &&
        __builtin_wasm_memory_grow(0, (end - have + 65535) >> 16) == -1ul)
        __builtin_trap();
    __wheap_start = end;
    return (void *)start;
}

__attribute__((export_name("_start"))) void
_start(void)
{
    size_t size = __wargs_size();
    long *block = heap_claim(size);

    __wargs_get(block, size);
    __wsigword(&__wsig_pending);
    __libc_start_main(call_main, block[0], (char **)(block + 1), 0, 0, 0);
}

/* SPDX-License-Identifier: MIT */
/* Thread-local variables of programs with threads.
 *
 * Compiled code adds the global __tls_base to the address of the initial value
 * of a variable. Each thread, also the first, gets a copy of all initial values
 * below its struct pthread (__copy_tls), and sets the global to the distance.
 * When another thread runs, the engine exchanges the global like
 * __stack_pointer.
 *
 * In a program without threads __tls_base is the constant 0, and the initial
 * values are the variables. */
#include <elf.h>
#include <sys/mman.h>
#include "pthread_impl.h"
#include "wsys.h"

/* Where the initial values are. wopt writes these functions anew; weak, so that
 * the compiler does not use what they return here. */
#define SET_BY_WOPT(name) \
    weak __attribute__((export_name(#name))) uint32_t name(void)

SET_BY_WOPT(__wtls_image)
{
    return 0;
}

SET_BY_WOPT(__wtls_size)
{
    return 0;
}

__asm__(".globaltype __tls_base, i32\n"); /* defined by the linker */

#define MAX_ALIGN 4096u

static Elf32_Phdr segment;

/* The linker does not report the alignment. The address of the initial values
 * has at least that one. */
Elf32_Phdr *
__wtls_segment(void)
{
    uint32_t image = __wtls_image(), size = __wtls_size();
    uint32_t align = image & -image;

    if (!size)
        return 0;
    segment.p_vaddr = image;
    segment.p_filesz = segment.p_memsz = size;
    segment.p_align = align < MAX_ALIGN ? align : MAX_ALIGN;
    return &segment;
}

void *
__wtls_map(size_t size)
{
    return __mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1,
                  0);
}

void
__wtls_enter(void)
{
    if (segment.p_filesz)
        __asm__ volatile("local.get %0\n\tglobal.set __tls_base"
                         :
                         : "r"(__pthread_self()->dtv[1] - segment.p_vaddr));
}

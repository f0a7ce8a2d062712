/* The table of system calls, from syscalls.def. */
#include "kernel/syscall.h"

#include <stddef.h>

#define SYSCALL(nr, name, args, support, missing) \
    [nr] = {#name, args, missing, sys_##name, support},
#define SYSCALL_AS(nr, name, fn, args, support, missing) \
    [nr] = {#name, args, missing, sys_##fn, support},
static const struct syscall_row rows[SYSCALL_MAX] = {
#include "kernel/syscalls.def"
};
#undef SYSCALL

const struct syscall_row *
syscall_row(uint32_t nr)
{
    return nr < SYSCALL_MAX && rows[nr].fn ? &rows[nr] : NULL;
}

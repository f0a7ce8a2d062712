/* The limits of a process that compiles: it gives up all that compiling does
 * not need. */
#ifndef ENGINE_JAIL_H
#define ENGINE_JAIL_H

#include <stdint.h>

/* Limits of one compilation, for programs that are not trusted. A module that
 * reaches one of them is refused. */
#define COMPILER_CPU_S        20
#define COMPILER_WALL_S       60
#define COMPILER_MEMORY       (UINT64_C(1) << 30)
#define COMPILER_CODE_BYTES   (UINT64_C(128) << 20)
#define COMPILER_MODULE_BYTES (16u << 20)
int jail_enter(void);  /* ends with its parent; gains no rights */
int jail_limit(void);  /* time, memory, files */
int jail_filter(void); /* system calls; only the listed ones from now on */

#endif

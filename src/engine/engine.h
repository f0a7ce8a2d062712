/* The engine: compiles programs and runs them as machines, on wasmtime.
 *
 * One engine serves any number of kernels on any number of OS threads; a
 * machine belongs to one kernel and is used by one thread at a time.
 *
 * Out-of-bounds accesses, undefined instructions and bad divisions of guests
 * arrive as SIGSEGV, SIGILL and SIGFPE of the host process. engine_new installs
 * handlers for these that pass on what is not a guest's to the handlers found
 * there: a host that has its own installs them before engine_new. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/own.h"
#include "kernel/machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0 and NULL mean the default in brackets. */
struct engine_options {
    uint32_t max_machines;      /* that exist at a time [1024]; the engine
                                 * takes fewer where address space is short */
    const char *cache_dir;      /* for compiled code of trusted programs, made
                                 * if missing; not used unless it is private
                                 * to this user [no cache] */
    const char *shipped_dir;    /* code that came with the programs, only read;
                                 * not used unless it belongs to this user or
                                 * root and nobody else can write there [none] */
    uint32_t tick_us;           /* length of a time slice [1000] */
    size_t keep_resident_bytes; /* of memory kept by a free slot [4 MiB, or
                                 * 256 KiB on Linux before 6.7] */
    size_t max_stack_bytes;     /* native stack of a machine [32 MiB, or 8 MiB
                                 * where its use cannot be seen] */
    const char *compiler;       /* executable that compiles programs: started
                                 * with the argument "compile", it calls
                                 * compiler_main [none: those that are not
                                 * trusted are refused, all others compiled
                                 * in this process] */
    bool keeps_compiler;        /* engine_close starts a process of the
                                 * compiler, with the argument "compilers",
                                 * and guests' programs are compiled there */
    bool compiles_in_process;   /* all of them. For tests only. */
    bool is_unpreemptive;       /* no epoch checks: machines are never
                                 * interrupted. For measurements only. */
};

/* -ENOMEM; -ENOTSUP, -EAGAIN, or what opening the compiler gave, with the
 * reason in `why`, cut to size. */
int engine_new(const struct engine_options *o, OWN struct engine **ret,
               char *why, size_t why_size);
/* After its last machine was freed and its last program was put. */
void engine_free(OWN struct engine *e); /* NULL is fine */

/* From now on it has the programs that were loaded, and no others, but for
 * those of guests if it keeps_compiler: loading them is refused, and the cache
 * and the compiler are not open any more. Before other threads use it. 0 or
 * -errno: the compiler's process has not started. */
int engine_close(struct engine *e);

/* Copies the compiled code of a trusted program, which was loaded, into a
 * folder that is to be a shipped_dir; what is there already stays. -ENOENT: the
 * engine has no cache, or it could not be stored there. */
int engine_ship(struct engine *e, const struct program_source *src,
                int dir_hfd);

const struct machine_ops *engine_ops(void);

/* What the executable named as `compiler` does: compiles the module in
 * descriptor 0 to descriptor 1, in a jail if it is not trusted. Ends the
 * process. */
_Noreturn void compiler_main(void);
/* What it does with the argument "compilers": compiles for an engine that was
 * closed, until that ends. `seal` takes from the process what that does not
 * need, or returns -errno and where. */
_Noreturn void compilers_main(int (*seal)(const char **ret_where));

/* What it could get of max_machines, and how many exist now. */
uint32_t engine_max_machines(const struct engine *e);
uint32_t engine_machines(const struct engine *e);

#endif

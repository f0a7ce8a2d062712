/* The engine: compiles programs and runs them as machines, on wasmtime.
 *
 * One engine serves any number of kernels on any number of OS threads. A
 * machine belongs to one kernel and is used by one thread at a time.
 *
 * Out-of-bounds accesses, undefined instructions and bad divisions of guests
 * arrive as SIGSEGV, SIGILL and SIGFPE of the host process. engine_new installs
 * handlers for these signals, which pass faults of the host on to the previous
 * handlers. A host with its own handlers must install them before engine_new.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/own.h"
#include "kernel/machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0 and NULL select the default in brackets. */
struct engine_options {
    uint32_t max_machines;   /* maximum at a time [1024]; fewer if address
                              * space is short */
    const char *cache_dir;   /* for compiled code of trusted programs,
                              * created if missing; used only if it is
                              * private to this user [no cache] */
    const char *shipped_dir; /* code that came with the programs, read-only;
                              * used only if it belongs to this user or root
                              * and nobody else can write there [none] */
    bool shipped_is_checked; /* the caller has checked its owners */
    uint32_t tick_us;        /* length of a time slice [1000] */
    /* memory kept by a free slot [4 MiB, or 256 KiB on Linux before 6.7] */
    size_t keep_resident_bytes;
    size_t max_stack_bytes;   /* native stack of a machine [32 MiB, or 8 MiB
                               * if its use cannot be measured] */
    const char *compiler;     /* executable that compiles programs: started
                               * with the argument "compile", it calls
                               * compiler_main [none: programs that are not
                               * trusted are refused, all others compiled in
                               * this process] */
    bool keeps_compiler;      /* engine_close starts a compiler process with
                               * the argument "compilers", which compiles
                               * programs of guests */
    bool compiles_in_process; /* all programs. For tests only. */
    bool is_unpreemptive;     /* no epoch checks: machines are never
                               * interrupted. For measurements only. */
};

/* Creates an engine. -ENOMEM. -ENOTSUP, -EAGAIN, or the error of opening the
 * compiler, with the reason in `why`, cut to its size. */
int engine_new(const struct engine_options *o, OWN struct engine **ret,
               char *why, size_t why_size);
/* Frees the engine, after its last machine was freed and its last program put.
 */
void engine_free(OWN struct engine *e); /* accepts NULL */

/* Closes the engine: it keeps the loaded programs and refuses all others,
 * except those of guests if it keeps_compiler. The cache and the compiler are
 * closed. Must be called before other threads use the engine. Returns 0, or
 * -errno if the compiler process did not start. */
int engine_close(struct engine *e);

/* Copies the compiled code of a loaded trusted program into a folder for use as
 * a shipped_dir; existing entries stay. -ENOENT: the engine has no cache, or
 * the code could not be stored there. */
int engine_ship(struct engine *e, const struct program_source *src,
                int dir_hfd);

/* Returns the functions of this engine, for struct kernel_options. */
const struct machine_ops *engine_ops(void);

/* The main function of the executable named as `compiler`: compiles the module
 * in descriptor 0 to descriptor 1, in a jail if it is not trusted. Ends the
 * process. */
_Noreturn void compiler_main(void);
/* The main function of that executable with the argument "compilers": compiles
 * for a closed engine until that ends. `seal` gives up the rights that this
 * does not need, or returns -errno and the failed step. */
_Noreturn void compilers_main(int (*seal)(const char **ret_where));

/* The number of machines that the engine can have, and the current number. */
uint32_t engine_max_machines(const struct engine *e);
uint32_t engine_machines(const struct engine *e);

#endif

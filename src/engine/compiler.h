/* The processes that compile programs.
 *
 * A process gets the order and the module in descriptor 0, and writes the code,
 * or the reason of a failure, to descriptor 1. Both are memory files, so
 * neither side can block the other. */
#ifndef ENGINE_COMPILER_H
#define ENGINE_COMPILER_H

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <wasmtime.h>

struct compiler {
    int hfd;                  /* their executable, or -1 */
    _Atomic uint32_t running; /* for untrusted programs */
};

/* path NULL means that there is no compiler. */
int compiler_init(struct compiler *c, const char *path);
void compiler_fini(struct compiler *c);
/* Moves a descriptor above the numbers that a new process gets, so that it is
 * not overwritten there. Returns it, or -errno; for -1, the errno of the call
 * that returned it. */
int compiler_hfd(OWN int hfd);
/* Starts the executable with one argument and returns its pid, or -errno. The
 * process has these n descriptors (-1: /dev/null), then its executable, and
 * nothing else. */
pid_t compiler_spawn(const struct compiler *c, const char *word,
                     const int *hfds, int n);
/* Waits for the end of such a process and returns its status as waitpid does.
 * -ECHILD: the host ignores SIGCHLD, so the status is unknown. */
int compiler_reap(pid_t pid, int64_t *ret_cpu_ns);
/* Decides the outcome for a module from the status of its ended process and its
 * output file. 0: the file contains the code. -ENOEXEC. */
int compiler_outcome(int status, int out_hfd, bool *ret_is_final, char *why,
                     size_t why_size);

/* The input of such a process: this order, then the module. */
struct compiler_order {
    uint64_t is_trusted;
};

/* The compiler's own executable, open only until it runs. */
#define COMPILER_EXE_HFD 3

/* Exit statuses of such a process, if it was not killed. */
enum {
    COMPILER_DONE = 0,    /* descriptor 1 contains the code */
    COMPILER_REFUSED = 1, /* descriptor 1 contains the reason */
    COMPILER_FAILED = 2,
};

/* Compiles in this process, which must be such a process, and exits. */
_Noreturn void compiler_compile(wasm_engine_t *wasm, const uint8_t *module,
                                size_t len);

#endif

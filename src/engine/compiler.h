/* The processes that compile programs. */
#ifndef ENGINE_COMPILER_H
#define ENGINE_COMPILER_H

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <wasmtime.h>

struct compiler {
    int hfd;                  /* their executable; -1: there is none */
    _Atomic uint32_t running; /* for programs that are not trusted */
};

/* path NULL: there is none. */
int compiler_init(struct compiler *c, const char *path);
void compiler_fini(struct compiler *c);
/* The same file, or -errno for -1, under a number that is free in the new
 * process too. */
int compiler_hfd(OWN int hfd);
/* Starts the executable with one argument: its id, or -errno. It has these n
 * descriptors (-1: /dev/null), then its executable, and nothing else. */
pid_t compiler_spawn(const struct compiler *c, const char *word,
                     const int *hfds, int n);
/* Waits for the end of such a process: its status as of waitpid, or -ECHILD:
 * the host ignores SIGCHLD, nobody can tell. */
int compiler_reap(pid_t pid, int64_t *ret_cpu_ns);
/* What became of a module, from the status of its process, which is gone, and
 * the file it has written to. 0: that is the code; -ENOEXEC. */
int compiler_outcome(int status, int out_hfd, bool *ret_is_final, char *why,
                     size_t why_size);

/* The input of such a process: this order, then the module. */
struct compiler_order {
    uint64_t is_trusted;
};

/* Its own executable, open only until it runs. */
#define COMPILER_EXE_HFD 3

/* How such a process ends when nothing killed it. */
enum {
    COMPILER_DONE = 0,    /* descriptor 1 has the code */
    COMPILER_REFUSED = 1, /* descriptor 1 has the reason */
    COMPILER_FAILED = 2,
};

/* Compiles in this process, which is such a one and ends. */
_Noreturn void compiler_compile(wasm_engine_t *wasm, const uint8_t *module,
                                size_t len);

#endif

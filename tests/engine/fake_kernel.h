/* The kernel's side of machine.h for tests of the engine: one thread whose
 * system calls do what the test says. */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include "engine/engine.h"
#include "kernel/task.h"

/* System calls of the fake; other numbers return the sum of the arguments. */
enum { CALL_EXIT = 1, CALL_LOG = 2, CALL_WAIT = 3, CALL_PEEK = 4 };

/* sys.signext for this address ends the thread. */
#define FAKE_END_AT 400

#define FAKE_LOG 16

struct fake {
    struct thread thread;
    struct engine *engine;
    struct machine *machine;
    struct machine_trap trap;
    int status;            /* of CALL_EXIT and proc_exit */
    int32_t log[FAKE_LOG]; /* of CALL_LOG */
    size_t n_log;
    bool must_wait; /* set by CALL_WAIT */
    /* The number of times that the engine asked whether it must wait. */
    unsigned waits;
    uint64_t memory_limit; /* of all growth */
    /* The only shared range of memory; len 0: none. */
    struct machine_share share;
    uint64_t memory;
    /* The answer to sys.fork. */
    int may_fork;
    unsigned wasi_row; /* of the last call */
    uint64_t wasi_args[9];
    int32_t wasi_result;
};

/* Returns an engine with few slots; ends the program if that is impossible. */
struct engine *fake_engine(uint32_t max_machines, const char *cache_dir);
/* Compiles a module from its text form. NULL if it is refused (`why` may be
 * NULL). */
OWN struct program *fake_program(struct engine *e, const char *wat,
                                 bool is_trusted, char *why, size_t why_size);
/* Loads a program, and waits if a process compiles it. */
int fake_load(struct engine *e, const struct program_source *src,
              OWN struct program **ret, char *why, size_t why_size);
/* Returns the binary of a module in text form, which the caller frees. */
uint8_t *fake_wasm(const char *wat, size_t *ret_len);
/* Creates a machine of p, which has not run yet. */
int fake_init(struct fake *f, struct engine *e, struct program *p);
void fake_fini(struct fake *f);
/* Compiles a module and creates its machine, which has the only reference to
 * the program. */
void fake_open(struct fake *f, struct engine *e, const char *wat);

enum machine_event fake_resume(struct fake *f);
/* Resumes until something other than the end of a slice happens. */
enum machine_event fake_run(struct fake *f);

#define SYS_IMPORTS                                                            \
    "(import \"sys\" \"call\" (func $call (param i32 i32 i32 i32 i32 i32 i32)" \
    " (result i32)))"                                                          \
    "(import \"sys\" \"wait\" (func $wait))"
/* A call with one argument whose result is dropped. */
#define CALL1(nr, arg)                                            \
    "(drop (call $call (i32.const " #nr ") " arg " (i32.const 0)" \
    " (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))"
#define MEMORY "(memory (export \"memory\") 1)"
/* A whole program from the body of _start. */
#define PROGRAM(body) \
    "(module " SYS_IMPORTS MEMORY "(func (export \"_start\") " body "))"

#endif

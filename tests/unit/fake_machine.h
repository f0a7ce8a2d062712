/* An engine whose programs are C functions, so that the kernel can be tested
 * without WebAssembly. Machines have memory and no code, and `resume` calls a
 * function of the test. */
#ifndef FAKE_MACHINE_H
#define FAKE_MACHINE_H

#include "kernel/machine.h"

#define FAKE_PROGRAM "\1fake" /* content of a file that is a program */
enum { FAKE_MEMORY_BYTES = 1 << 20 };

struct fake_machine;
typedef enum machine_event fake_run(struct fake_machine *m,
                                    struct machine_trap *trap);

/* The kernel's `engine`, owned by the test. Without one, machines wait for
 * ever and their memory is not charged. */
struct engine {
    fake_run *run; /* of new machines; NULL: they wait for ever */
    void *arg;
    uint64_t memory_bytes; /* of new machines; 0: FAKE_MEMORY_BYTES */
    unsigned loads, interrupts;
    bool share_fails;
    uint64_t share_bytes; /* that exist */
    bool fork_fails, spawn_fails;
    int compile_hfd;    /* of programs that load slowly; 0: none does */
    int64_t compile_ns; /* what that costs */
    /* Compilations that the kernel has not put yet. */
    unsigned compilings;
};

struct fake_machine {
    struct machine machine;
    struct engine *engine; /* or NULL */
    fake_run *run;
    void *arg;
    OWN unsigned *n_sharing; /* machines of threads that share the memory */
    /* The number of times it was resumed, with the current one. */
    long slices;
    int32_t fork_result;
    /* The stack size that it reports. */
    uint64_t stack_bytes;
    int shares;      /* ranges of shared memory that it has */
    unsigned faults; /* entries for handlers of traps */
    uint32_t fault_stack;
    uint32_t words[8]; /* the script's own; a fork copies them */
};

extern const struct machine_ops fake_ops;

/* Returns a program that is not in a file. NULL: out of memory. */
OWN struct program *fake_program_new(void);
struct fake_machine *fake_of(const struct thread *th);

#endif

/* An engine whose programs are C functions: machines have memory and no code,
 * and `resume` runs a script. */
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
    bool fork_fails;
    int compile_hfd;     /* of programs that load slowly; 0: none does */
    int64_t compile_ns;  /* what that costs */
    unsigned compilings; /* that were not put yet */
};

struct fake_machine {
    struct machine machine;
    struct engine *engine; /* or NULL */
    fake_run *run;
    void *arg;
    long slices; /* resumed so often, this time included */
    int32_t fork_result;
    uint64_t stack_bytes; /* what its stack is said to take */
    uint32_t words[8];    /* the script's own; a fork copies them */
};

extern const struct machine_ops fake_ops;

/* NULL: out of memory. */
OWN struct program *fake_program_new(void);
struct fake_machine *fake_of(const struct thread *th);

#endif

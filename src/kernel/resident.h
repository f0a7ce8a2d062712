/* A resident program: one task that serves command after command.
 *
 * It yields in sys.next, with the status of its last command. Then it is
 * parked: only its memory and the state of its task remain. The next command
 * enters it through wasmsand_resume, where it asks for the text. An event that
 * would end another task only ends its command: the task stays, without a
 * machine, and its owner restores the last state. */
#ifndef KERNEL_RESIDENT_H
#define KERNEL_RESIDENT_H

#include "base/own.h"
#include "kernel/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel;
struct program;

/* A resident program. It is owned by the library, and refers to its task, whose
 * `resident` refers back. */
struct resident {
    struct task *task;
    bool is_parked; /* no command is running */
    bool is_dead;   /* parked, and its memory is lost */
    int status;     /* of the last command: exit status, or 128 + signal */
    const char *command;
    size_t len;
    bool is_users;       /* the command goes into the history */
    uint32_t memory_end; /* end of the memory used by the last command; 0:
                          * unknown */
    bool had_threads;    /* more than one, when it reached sys.next last */
    bool is_fresh;       /* a new or forked sandbox: reseed random state */
};

/* The state of its task that a resident program depends on, beside its memory.
 */
struct resident_state {
    struct sigaction_k action[NSIG_MAX + 1];
    uint64_t mask;
    gaddr word;
    uint32_t umask;
};

/* Creates a parked task, child of init, that will run the frozen program p
 * (consumed, also on failure). -ENOEXEC: p is not frozen, or by another
 * version. */
int resident_new(struct kernel *k, OWN struct program *p, const char *path,
                 OWN struct resident **ret);
void resident_free(OWN struct resident *r); /* ends the task; accepts NULL */

/* Runs `command`, which must stay valid until it is parked again. is_users: not
 * one of the host's own. It needs a machine: see resident_thaw. */
void resident_run(struct resident *r, const char *command, size_t len,
                  bool is_users);
/* Creates a machine of program p (consumed) if there is none. Its memory has
 * `size` bytes, and the initial content of the program. After filling it, the
 * caller calls signal_update_word. */
int resident_thaw(struct resident *r, OWN struct program *p, uint64_t size);
/* Frees the machine; the task stays. */
void resident_freeze(struct resident *r);

/* Copy the state out of a task, and into one. Handlers are addresses in the
 * program, so both must be the same program. */
void resident_get_state(const struct task *t, struct resident_state *ret);
void resident_set_state(struct task *t, const struct resident_state *s);

/* --- for the kernel */
/* Called when its machine has reached sys.next. */
void resident_on_next(struct task *t, int32_t status);
/* Called instead of task_exit for a task with a resident. */
void resident_on_exit(struct task *t, int status);

#endif

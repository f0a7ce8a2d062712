/* Contexts of code.*: a Python process that runs cells in one namespace
 * (wasmsand.runner of the root image).
 *
 * A context belongs to a slot and has at most one process and one cell at a
 * time. The library reports output and ends on the sandbox's thread; the loop
 * answers. Members are guarded by srv->lock, unless stated. */
#ifndef RPC_CODE_H
#define RPC_CODE_H

#include "rpc/slot.h"
#include "wire/stream.h"

struct code_context {
    struct list link; /* in slot->contexts */
    struct work work; /* the cell has ended */
    struct slot *slot;
    uint64_t number;
    bool is_removed;
    char *cwd, **env; /* of the process; NULL: the shell's */

    uint64_t process;       /* 0: none runs */
    bool was_lost;          /* it ended by itself since the last cell */
    atomic_bool is_stalled; /* has output, but the client is far behind */

    /* The cell, until its answer. */
    struct call *q;       /* NULL: no cell runs */
    bool is_beginning;    /* do_code_run uses q, so nobody answers it */
    bool is_over;         /* `work` was or will be posted */
    bool has_ended;       /* with its process */
    bool is_restarted;    /* the process is new, and an earlier one was lost */
    const char *ended_by; /* the class of an error: TIMEOUT; or NULL */
    int exit_code;
    uint64_t timer; /* of callback_after */
    int64_t count;  /* of cells of this process */
    bool is_streamed;
    struct stream stream;      /* of the sandbox's thread */
    struct buf out, err;       /* with limits */
    struct buf frame;          /* an incomplete one, of the sandbox's thread */
    struct buf results, error; /* as JSON */
};

/* code.c: the process and its frames. */

/* Starts the process if there is none, and sends it the cell. */
int code_begin(struct code_context *c, const struct call *q,
               struct wsand_error *err);
/* With the lock held: the cell is over. The loop answers it. */
void code_finish(struct code_context *c);
/* Ends the process. A cell that runs is over. */
void code_drop_process(struct code_context *c);
/* Sends a signal to the process, if there is one. Never waits. */
void code_signal(struct code_context *c, int sig);
/* Frees the buffers of the last cell. */
void code_reset(struct code_context *c);

/* do_code.c */

/* Posted to the loop: answers the cell. */
void code_answer(struct work *w);
void code_free_all(struct slot *slot);
/* Answers all cells, because the sandbox is gone. */
void code_refuse_all(struct slot *slot);
/* Interrupts the cell of the request with this id. False: there is none. */
bool code_cancel(struct slot *slot, const char *id);
/* The client has read: processes whose output waited for that continue. */
void code_resume_all(struct slot *slot);

#endif

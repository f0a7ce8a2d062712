/* The process that compiles for a closed engine; compiler_serve.c is the part
 * that runs there. Each program has a socket of its own: it carries an order
 * with the module, then one answer, with the descriptor of the code if there is
 * any. */
#ifndef ENGINE_COMPILER_REMOTE_H
#define ENGINE_COMPILER_REMOTE_H

#include "base/own.h"
#include "engine/compiler.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { REMOTE_SLOTS = 8, REMOTE_FIRST_HFD = 3, REMOTE_WHY_BYTES = 200 };
enum remote_op { REMOTE_COMPILE = 1, REMOTE_CANCEL };

/* The head of a message to the process. A module of `len` bytes follows an
 * order to compile. */
struct compiler_remote_order {
    uint32_t op, len;
};

struct remote_answer {
    int32_t error; /* 0 or -errno */
    bool is_final; /* the same module would fail again */
    int64_t cpu_ns;
    uint64_t len;
    char why[REMOTE_WHY_BYTES];
};

/* The engine's side. A slot is a socket to the process. */
struct remote {
    /* The process was started, and has not been ended by compiler_remote_fini.
     */
    bool is_there;
    pid_t pid;
    pthread_mutex_t lock;
    struct {
        int hfd;
        bool is_taken;
        bool is_left; /* nobody waits for its answer any more */
    } slot[REMOTE_SLOTS];
};

/* Waits until the process has sealed itself. Returns 0 or -errno. */
int compiler_remote_start(struct remote *m, const struct compiler *c);
/* Closes the sockets and waits for the end of the process. Accepts one that was
 * never started. */
void compiler_remote_fini(struct remote *m);
/* Orders a compilation and returns its slot, whose descriptor becomes readable
 * at the end. -EAGAIN: no slot is free. -EIO: the process has ended. */
int compiler_remote_order(struct remote *m, const uint8_t *module, size_t len);
/* Reads the answer once it is readable; can be repeated. -EIO: the process has
 * ended. */
int compiler_remote_take(struct remote *m, int slot, struct remote_answer *ret,
                         OWN int *ret_code_hfd);
/* Gives up the slot, in any state. */
void compiler_remote_leave(struct remote *m, int slot);

#endif

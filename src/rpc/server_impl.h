/* The server: one object that all its parts refer to.
 *
 * The loop runs on one of two threads (leader.h) and owns the sandboxes and
 * their phases. Jobs, one for each call, do the work on a sandbox: on the
 * library's threads, or on the loop's if there is nothing else to do. A job
 * posts the work that it leaves to the loop (loop.h). */
#ifndef RPC_SERVER_IMPL_H
#define RPC_SERVER_IMPL_H

#include "base/list.h"
#include "rpc/guard.h"
#include "rpc/leader.h"
#include "rpc/server.h"
#include "rpc/tidy.h"
#include "rpc/worker.h"
#include "wasmsand.h"
#include "wire/frame.h"
#include "wire/peer.h"
#include "wire/writer.h"

enum {
    SLOT_BUCKETS = 256,
    RPC_BYTES = 8388608, /* of a line, unless `create` says otherwise */
};

struct sandbox_config;
struct slot;

struct server {
    const struct server_options *options;
    struct wsand_runtime *rt;
    struct peer peer; /* the client */
    struct writer out;
    int wake_hfd;         /* an eventfd: there is work for the loop */
    int signal_hfd;       /* of the signals that end the server */
    struct leader leader; /* the loop's threads */
    int64_t started_ms;
    struct session_worker *worker; /* NULL: the server is not a worker */
    atomic_bool wants_fewer;   /* the loop waits until there are fewer calls */
    atomic_bool has_stalled;   /* processes wait for the client to read */
    atomic_bool rejects_calls; /* calls that have not begun are rejected */

    /* The loop's alone. */
    struct frame in;
    int failure; /* errno of input or output, or 0 */
    struct guard guard;
    struct tidy tidy;
    struct sandbox_config *defaults; /* of the command line and its file */
    struct slot *root;               /* NULL: not created */
    struct list slots[SLOT_BUCKETS];
    size_t n_slots; /* without the root */
    uint64_t last_id;
    bool is_ending;      /* end of input, kill, a signal */
    int end_signal;      /* the signal; 0: none */
    bool is_deaf;        /* kill, a signal: nothing more is read */
    bool is_cancelling;  /* commands that run at the end are cancelled */
    struct call *killer; /* answered at the end */

    /* Guards the lists below, and runs and processes of slots. Under it, only
     * out.lock is taken. */
    pthread_mutex_t lock;
    struct list posted; /* work for the loop */
    struct list callbacks;
    uint64_t last_callback;
    atomic_size_t n_callbacks; /* read without the lock as well */
};

#endif

/* A sandbox: a kernel, a shell and their state, used by one call at a time. */
#ifndef LIB_SANDBOX_H
#define LIB_SANDBOX_H

#include "wasmsand.h"

#include "base/list.h"
#include "base/own.h"
#include "kernel/limits.h"
#include "lib/gone.h"
#include "lib/lease.h"
#include "lib/mail.h"
#include "lib/process.h"
#include "lib/runtime.h"

#include <stdio.h>

struct history;
struct network;
struct shell;
struct snapshot;
struct tree;
struct vnode;

/* The state of one sandbox. The holder of the lease may use all members; other
 * threads use only those with a lock of their own or an atomic type. */
struct wsand_sandbox {
    struct wsand_runtime *runtime;
    struct root_image *image;
    struct lease lease; /* guards the following members, unless stated */
    struct mailbox mailbox;
    struct processes processes;
    struct kernel *kernel;
    struct network *network;      /* NULL: it never had one */
    struct wsand_options options; /* own copies, without programs */
    struct shell *shell;          /* NULL: not used yet */
    int64_t run_deadline_ns;  /* of the wsand_run in progress, or NS_NEVER */
    struct snapshot *initial; /* the initial state */
    struct list snapshots;    /* oldest first */
    size_t n_snapshots;
    uint64_t snapshot_bytes; /* kept by snapshots, beside the newest */
    uint64_t last_snapshot;  /* id */
    struct history *history;
    struct gone gone; /* of the state that it was copied or restored from */
    struct snapshot *recorded;        /* last wsand_state_changes, or NULL */
    bool has_script;                  /* a script of that shell was included */
    bool was_hit[LIMIT_COUNT];        /* by a command, during a file function */
    struct host_sink *strace;         /* NULL: off */
    _Atomic uint64_t pending_signals; /* bit n: signal n */
    _Atomic bool window_changed, is_cancelled;
};

/* Ends one sandbox_enter. The last one of a thread ends its lease. */
static inline void
sandbox_leave(struct wsand_sandbox *sb)
{
    if (!--sb->lease.depth)
        lease_leave(sb);
}
DEFINE_CLEANUP(struct wsand_sandbox *, sandbox_leave)

/* Sends the signals of wsand_signal to the current run. Called by the thread
 * that runs it, because only that thread may touch tasks. */
void sandbox_send_pending(struct wsand_sandbox *sb);
/* True if wsand_cancel was called in this lease, or the sandbox is closed. */
bool sandbox_is_cancelled(const struct wsand_sandbox *sb);
/* True if the sandbox is being freed. */
bool sandbox_is_closed(const struct wsand_sandbox *sb);

/* Creates a fork with the files of t in its root and no shell. With t NULL, it
 * has the current files and the shell of the last checkpoint. */
int sandbox_draft(struct wsand_sandbox *sb, const struct tree *t,
                  OWN struct wsand_sandbox **ret, struct wsand_error *err);

/* Finds the folder at an absolute path, with the rights of root. The result is
 * borrowed: it is valid as long as the caller has the lease and changes
 * nothing. */
int sandbox_find_folder(struct wsand_sandbox *sb, const char *path,
                        struct vnode *ret);

#endif

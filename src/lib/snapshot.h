/* Snapshots, for the files that create and save them.
 *
 * A snapshot is a value: it refers to no object of the sandbox that it comes
 * from, and can be restored in any sandbox with the same mounts. */
#ifndef LIB_SNAPSHOT_H
#define LIB_SNAPSHOT_H

#include "lib/gone.h"
#include "lib/sandbox.h"
#include "lib/shell_state.h"
#include "tree/tree.h"

/* The files of the n-th mount. */
struct mount_tree {
    size_t mount;
    struct tree tree;
};

/* The state of a sandbox at one moment. All parts are shared with the sandbox
 * and other snapshots until one of them changes. */
struct snapshot {
    struct list link;
    uint64_t id;
    uint64_t lost; /* bytes kept that the next snapshot does not have */
    struct mount_tree *trees; /* the first is that of the root */
    size_t n_trees;
    struct history *history;
    bool has_shell;
    bool has_other_module; /* the shell's pages belong to another program */
    struct shell_state shell;
    struct gone gone;    /* the processes at that time */
    struct list mqueues; /* message queues, see kernel/mqueue.h */
    /* Of the recorded state: the recorded pages, without the patch. */
    struct shell_pages *base;
    size_t patch_bytes;
};

/* The n-th mount of sb, if it has files of its own, or NULL. */
struct mount *snapshot_mount(const struct wsand_sandbox *sb, size_t n);
/* Finds a snapshot, or sets a message. */
int snapshot_find_error(const struct wsand_sandbox *sb, uint64_t id,
                        struct snapshot **ret, struct wsand_error *err);
/* -ENOSPC with a message if the maximum number is reached. */
int snapshot_check_limit(const struct wsand_sandbox *sb,
                         struct wsand_error *err);
/* Adds s to the snapshots of sb. -ENOSPC with a message: they would keep too
 * many bytes; then s is freed. */
int snapshot_add(struct wsand_sandbox *sb, OWN struct snapshot *s,
                 uint64_t *ret_id, struct wsand_error *err);

/* Creates a snapshot of the files and of the shell's last checkpoint, with or
 * without those files that count as memory. -ENOMEM. */
int snapshot_new(struct wsand_sandbox *sb, bool with_memory,
                 OWN struct snapshot **ret);
void snapshot_free(OWN struct snapshot *s); /* accepts NULL */
/* Frees all snapshots of sb, including its initial and recorded states. */
void snapshots_free(struct wsand_sandbox *sb);
/* Returns the files in the n-th mount (0: the root), or NULL. */
const struct tree *snapshot_tree(const struct snapshot *s, size_t mount);
/* Replaces its root by a clone of t, and removes its shell. */
int snapshot_set_files(struct snapshot *s, const struct tree *t);
/* Ends all processes of sb and gives it the root's files and the shell of
 * `from`. On an error nothing has changed. */
int snapshot_replace(struct wsand_sandbox *sb, struct wsand_sandbox *from,
                     struct wsand_error *err);
/* Ends all processes of sb and restores the state s. On an error before that,
 * nothing has changed. */
int snapshot_restore(struct wsand_sandbox *sb, const struct snapshot *s,
                     struct wsand_error *err);
/* Gives sb, which has no processes, the message queues and the shell of s (if
 * there is one). */
int snapshot_thaw(const struct snapshot *s, struct wsand_sandbox *sb);

#endif

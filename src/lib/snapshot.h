/* Snapshots, for the files that make and save them. */
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

struct snapshot {
    struct list link;
    uint64_t id;
    uint64_t lost; /* bytes that it keeps and the next snapshot does not */
    struct mount_tree *trees; /* the first is the root's */
    size_t n_trees;
    struct history *history;
    bool has_shell;
    bool has_other_module; /* the shell's pages are of another program */
    struct shell_state shell;
    struct gone gone; /* the processes that there were */
    /* Of what is recorded: the pages that records are, without the patch. */
    struct shell_pages *base;
    size_t patch_bytes;
};

/* The n-th mount of sb, if it has files of its own, or NULL. */
struct mount *snapshot_mount(const struct wsand_sandbox *sb, size_t n);
/* With a message. */
int snapshot_find_error(const struct wsand_sandbox *sb, uint64_t id,
                        struct snapshot **ret, struct wsand_error *err);
/* -ENOSPC with a message: there are as many as there may be. */
int snapshot_check_limit(const struct wsand_sandbox *sb,
                         struct wsand_error *err);
/* Adds s to those of sb. -ENOSPC with a message: they would keep too much;
 * s is freed then. */
int snapshot_add(struct wsand_sandbox *sb, OWN struct snapshot *s,
                 uint64_t *ret_id, struct wsand_error *err);

/* The state of sb, which is checkpointed. */
int snapshot_new(struct wsand_sandbox *sb, OWN struct snapshot **ret);
void snapshot_free(OWN struct snapshot *s); /* NULL is fine */
void snapshots_free(struct wsand_sandbox *sb);
/* The files in the n-th mount (0: the root), or NULL. */
const struct tree *snapshot_tree(const struct snapshot *s, size_t mount);
/* Its root gets a clone of t, and it has no shell. */
int snapshot_set_files(struct snapshot *s, const struct tree *t);
/* Ends all processes of sb, which gets the files of the root and the shell of
 * `from`. On an error nothing has changed. */
int snapshot_replace(struct wsand_sandbox *sb, struct wsand_sandbox *from,
                     struct wsand_error *err);
/* Ends all processes of sb, which gets the state s. On an error before that,
 * nothing has changed. */
int snapshot_restore(struct wsand_sandbox *sb, const struct snapshot *s,
                     struct wsand_error *err);
/* Gives sb, which has no shell, the shell of s (if it has one). */
int snapshot_thaw_shell(const struct snapshot *s, struct wsand_sandbox *sb);

#endif

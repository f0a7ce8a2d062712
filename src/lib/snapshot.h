/* Snapshots, for the files that make and save them. */
#ifndef LIB_SNAPSHOT_H
#define LIB_SNAPSHOT_H

#include "lib/gone.h"
#include "lib/lib.h"
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

#endif

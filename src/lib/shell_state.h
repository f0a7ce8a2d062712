/* The state of a shell between commands, as a value independent of a sandbox.
 * Forks and snapshots contain it. */
#ifndef LIB_SHELL_STATE_H
#define LIB_SHELL_STATE_H

#include "lib/shell.h"

/* An inode in the n-th mount, which all copies of a sandbox have. */
struct inode_ref {
    size_t mount;
    uint64_t ino;
};

/* An open file of the shell. Files with the same open file description (dup)
 * name the first of them in same_as. */
struct open_file {
    int fd;
    int same_as;           /* a lower fd of the same open file; 0: none */
    bool cloexec, is_lost; /* lost: has no path, and becomes /dev/null */
    uint32_t flags;
    uint64_t pos;
    struct inode_ref at;
};

/* Owns its list of files and a reference to the pages. */
struct shell_state {
    OWN struct shell_pages *pages;
    struct resident_state state;
    struct rlimit_k rlimits[RLIMIT_COUNT];
    bool has_rlimits;     /* otherwise the default limits */
    struct inode_ref cwd; /* or, if it was removed, its parent (0: unknown) */
    bool cwd_is_removed;
    int status;
    bool has_env;
    struct open_file *files;
    size_t n_files;
};

/* Returns the state at the last checkpoint. */
int shell_state_take(struct shell_state *ret, const struct shell *sh);
void shell_state_fini(struct shell_state *s);
/* Creates the shell in sb, a copy of the sandbox of that state. */
int shell_state_thaw(const struct shell_state *s, struct wsand_sandbox *sb,
                     OWN struct shell **ret);

#endif

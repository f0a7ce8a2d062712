/* The state of a shell between commands, as a value independent of a sandbox.
 * Forks and snapshots contain it. */
#ifndef LIB_SHELL_STATE_H
#define LIB_SHELL_STATE_H

#include "lib/shell.h"
#include "lib/shell_files.h"

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
    OWN struct open_file *files;
    size_t n_files;
};

/* Returns the state at the last checkpoint. */
int shell_state_take(struct shell_state *ret, const struct shell *sh);
void shell_state_fini(struct shell_state *s);
/* Creates the shell in sb, a copy of the sandbox of that state. */
int shell_state_thaw(const struct shell_state *s, struct wsand_sandbox *sb,
                     OWN struct shell **ret);

#endif

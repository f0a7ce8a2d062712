/* The state of a shell between commands, as a value that belongs to no
 * sandbox: what forks and snapshots carry. */
#ifndef LIB_SHELL_STATE_H
#define LIB_SHELL_STATE_H

#include "lib/shell.h"

/* An inode in the n-th mount, which copies of a sandbox have in common. */
struct place {
    size_t mount;
    uint64_t ino;
};

struct open_file {
    int fd;
    int same_as;           /* a lower fd of the same open file; 0: none */
    bool cloexec, is_lost; /* lost: it has no path, and will be /dev/null */
    uint32_t flags;
    uint64_t pos;
    struct place at;
};

struct shell_state {
    OWN struct shell_pages *pages;
    struct resident_state state;
    struct rlimit_k rlimits[RLIMIT_COUNT];
    bool has_rlimits; /* else those of any shell */
    struct place cwd;
    int status;
    bool has_env;
    struct open_file *files;
    size_t n_files;
};

/* The state at the last checkpoint. */
int shell_state_take(struct shell_state *ret, const struct shell *sh);
void shell_state_fini(struct shell_state *s);
/* A shell in sb, a copy of the sandbox that the state was taken from. */
int shell_state_thaw(const struct shell_state *s, struct wsand_sandbox *sb,
                     OWN struct shell **ret);

#endif

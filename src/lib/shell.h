/* The resident shell of a sandbox. */
#ifndef LIB_SHELL_H
#define LIB_SHELL_H

#include "kernel/capture.h"
#include "kernel/resident.h"
#include "lib/sandbox.h"
#include "lib/shell_pages.h"

#include <stdbool.h>

#define SHELL_PATH "/usr/lib/wasmsand/shell.wasm"
enum { STDIO_FDS = 3 };

/* The state of the shell's task at the last checkpoint. */
struct saved {
    struct resident_state state;
    struct rlimit_k rlimits[RLIMIT_COUNT];
    struct fd_table fds; /* 0 to 2 are empty */
    struct vnode cwd;    /* held; mnt NULL: not saved yet */
    int status;          /* $? */
    bool has_env;
    /* The shell has not run a command yet (as in struct resident). */
    bool is_fresh; /* as in struct resident */
};

/* The resident shell of one sandbox. Its machine exists only from shell_thaw to
 * the next freeze; `pages` and `saved` are the state of the last checkpoint. */
struct shell {
    struct wsand_sandbox *sb;
    struct resident *res;
    OWN struct shell_pages *pages;
    struct saved saved;
    bool is_clean;   /* unchanged since the checkpoint */
    bool is_running; /* a command of the user or of the library */
    bool is_counted; /* among the shells with a machine */
    int status;      /* $? of the last command that was not killed */
    bool has_env;    /* the variables of the sandbox's options are set */
    /* Descriptors that could not be opened again; not reported yet. */
    OWN int *closed;
    size_t n_closed;
    OWN struct capture *background;
    struct streams streams; /* of its last command */
};

/* Creates a shell without a machine, in the folder of its user. -ENOEXEC if the
 * image has no shell. */
int shell_new(struct wsand_sandbox *sb, OWN struct shell **ret);
/* Saves the state of its task, and of the objects that belong to it. */
int shell_save_task(struct shell *sh);
/* Returns the shell of sb; creates it if there is none. */
int shell_get(struct wsand_sandbox *sb, struct shell **ret);
/* Creates its machine, which it does not have. */
int shell_thaw(struct shell *sh);
/* Between commands: saves the shell's state. While a command runs, the state
 * saved before it stays. */
int shell_checkpoint(struct shell *sh);
/* Discards all changes since the last checkpoint. */
void shell_undo(struct shell *sh);
/* Restores the task from the last checkpoint after its machine is gone. */
void shell_roll_back(struct shell *sh);

/* Returns the shell's working folder after the last finished command or,
 * without a shell, its initial folder. Borrowed. */
int shell_folder(struct wsand_sandbox *sb, struct vnode *ret);
void shell_free(OWN struct shell *sh); /* accepts NULL */

#endif

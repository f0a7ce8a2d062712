/* The resident shell of a sandbox. */
#ifndef LIB_SHELL_H
#define LIB_SHELL_H

#include "kernel/resident.h"
#include "lib/sandbox.h"
#include "lib/shell_pages.h"

#include <stdbool.h>

struct capture;

#define SHELL_PATH "/usr/lib/wasmsand/shell.wasm"
enum { STDIO_FDS = 3 };

/* The state of its task at the last checkpoint. */
struct saved {
    struct resident_state state;
    struct rlimit_k rlimits[RLIMIT_COUNT];
    struct fd_table fds; /* 0 to 2 are empty */
    struct vnode cwd;    /* held; mnt NULL: nothing was saved yet */
    int status;          /* $? */
    bool has_env;
    bool is_fresh; /* as in struct resident */
};

struct shell {
    struct wsand_sandbox *sb;
    struct resident *res;
    OWN struct shell_pages *pages;
    struct saved saved;
    bool is_clean;   /* as saved */
    bool is_running; /* a command, of the user or ours */
    bool is_counted; /* among the shells with a machine */
    int status;      /* $?: of the last command that was not killed */
    bool has_env;    /* the variables of the sandbox's options were set */
    OWN struct capture *background;
};

int shell_new(struct wsand_sandbox *sb, OWN struct shell **ret);
/* The state of its task, and of what belongs to it, is a checkpoint. */
int shell_save_task(struct shell *sh);
/* The shell of sb, made where there is none. */
int shell_get(struct wsand_sandbox *sb, struct shell **ret);
/* Makes its machine, if it has none. */
int shell_thaw(struct shell *sh);
/* Between commands: notes its state. While one runs, the state that was noted
 * before it stays. */
int shell_checkpoint(struct shell *sh);
/* Drops what has happened since the last checkpoint. */
void shell_undo(struct shell *sh);
/* Its machine is gone: the task gets the state of the last checkpoint. */
void shell_roll_back(struct shell *sh);

/* The shell's working folder, as the last command that has ended left it;
 * without a shell, the one that it will begin in. Borrowed. */
int shell_folder(struct wsand_sandbox *sb, struct vnode *ret);
void shell_free(OWN struct shell *sh); /* NULL is fine */

#endif

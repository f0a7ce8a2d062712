/* The resident shell of a sandbox. */
#ifndef LIB_SHELL_H
#define LIB_SHELL_H

#include "kernel/resident.h"
#include "lib/lib.h"
#include "lib/shell_pages.h"

#include <stdbool.h>

struct capture;

/* The state of its task at the last checkpoint. */
struct saved {
    struct resident_state state;
    struct fd_table fds; /* 0 to 2 are empty */
    struct vnode cwd;    /* held; mnt NULL: nothing was saved yet */
};

struct shell {
    struct wsand_sandbox *sb;
    struct resident *res;
    OWN struct shell_pages *pages;
    struct saved saved;
    bool is_clean;   /* as saved */
    bool is_counted; /* among the shells with a machine */
    OWN struct capture *background;
};

/* The shell of sb, made where there is none. */
int shell_get(struct wsand_sandbox *sb, struct shell **ret);
/* Makes its machine, if it has none. */
int shell_thaw(struct shell *sh);
/* Notes whether it has a machine. */
void shell_count_machine(struct shell *sh);
/* Between commands: notes its state. */
int shell_checkpoint(struct shell *sh);
/* Its machine is gone: the task gets the state of the last checkpoint. */
void shell_roll_back(struct shell *sh);

#endif

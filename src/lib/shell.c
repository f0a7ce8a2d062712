/* The resident shell of a sandbox: its life and its checkpoints.
 *
 * Problem: a command may be killed at any instruction, and the shell must
 * continue in the state before it. Copying its memory before each command would
 * cost more than the command.
 *
 * Idea: the state of a shell is its memory (pages) and the state of its task:
 * signal actions, umask, working folder, open files. A checkpoint saves both
 * between commands, after the answer was sent, and shares all unchanged pages
 * with the last checkpoint. A killed machine is dropped, and the next command
 * starts from the checkpoint in a fresh one. */
#include "lib/shell.h"

#include "engine/engine.h"
#include "kernel/capture.h"
#include "kernel/kernel.h"
#include "lib/error.h"
#include "lib/sandbox.h"
#include "lib/skeleton.h"
#include "lib/user.h"
#include "tree/image.h"
#include "tree/inode.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Limits of shells. BACKGROUND_BYTES is the ring of output between commands. At
 * most LIVE_SHELLS_MAX idle shells of a runtime keep a machine. */
enum {
    BACKGROUND_BYTES = 64 << 10,
    LIVE_SHELLS_MAX = 16,
    WASM_PAGE_BYTES = 64 << 10,
    SPARE_BYTES = 1 << 20, /* memory that a machine is not given up for */
};

/* --- the image that all shells of a runtime share */

/* Finds the program of all shells in the root image. Its code is attached to
 * the inode if it was loaded before. */
static int
shell_load_program(struct wsand_runtime *rt, const struct root_image *image,
                   OWN struct program **ret)
{
    const struct tree *t = image_tree(image->image);
    const struct inode *i = tree_find(t, skeleton_find(t, SHELL_PATH));
    char why[160];

    if (!i)
        return -ENOEXEC;
    if (i->attached) {
        *ret = (struct program *)counted_get(i->attached);
        return 0;
    }
    struct program_source src = {.bytes = inode_content(i),
                                 .len = i->size,
                                 .name = SHELL_PATH,
                                 .is_trusted = true,
                                 .file = &image->file};
    uint8_t *copy = NULL;
    if (!src.bytes) {
        src.bytes = copy = malloc(i->size + 1);
        if (!copy)
            return -ENOMEM;
        (void)inode_read(i, 0, copy, i->size);
    }
    int r = runtime_load(rt, &src, ret, why, sizeof why);
    free(copy);
    return r;
}

/* Called by every new shell; the first one loads the program. */
int
shell_image_load(struct wsand_runtime *rt, struct root_image *i)
{
    struct shell_image *si = &i->shell;

    if (!i->image)
        return -ENOEXEC;
    pthread_mutex_lock(&si->lock);
    int r = si->program ? 0 : shell_load_program(rt, i, &si->program);
    pthread_mutex_unlock(&si->lock);
    return r;
}

/* Saves the memory of a machine that has not run, for the comparison at
 * checkpoints. Pages that are not in use are not even read: reading would bring
 * them into memory, and the engine would then spend time on clearing them. */
static int
image_copy_memory(struct shell_image *si, const struct machine *m)
{
    uint64_t first = m->live_from / SHELL_PAGE_BYTES * SHELL_PAGE_BYTES;
    uint64_t dead_from = (m->dead_from + SHELL_PAGE_BYTES - 1) /
                         SHELL_PAGE_BYTES * SHELL_PAGE_BYTES;
    uint64_t dead_to = m->dead_to / SHELL_PAGE_BYTES * SHELL_PAGE_BYTES;

    if (si->memory)
        return 0;
    if (dead_from < first || dead_to < dead_from || dead_to > m->size)
        dead_from = dead_to = first;
    si->memory = calloc(1, m->size - first);
    if (!si->memory)
        return -ENOMEM;
    memcpy(si->memory, m->base + first, dead_from - first);
    memcpy(si->memory + (dead_to - first), m->base + dead_to,
           m->size - dead_to);
    si->live_from = m->live_from;
    si->dead_from = m->dead_from;
    si->dead_to = m->dead_to;
    si->size = m->size;
    return 0;
}

void
shell_image_fini(struct shell_image *si)
{
    program_put(si->program);
    free(si->memory);
    pthread_mutex_destroy(&si->lock);
}

/* --- creating and freeing a shell */

static void
saved_fini(struct saved *s)
{
    for (size_t i = 0; i < s->fds.cap; i++)
        file_put(s->fds.v[i].file);
    free(s->fds.v);
    if (s->cwd.mnt)
        vnode_release(&s->cwd);
    *s = (struct saved){0};
}

void
shell_free(OWN struct shell *sh)
{
    if (!sh)
        return;
    saved_fini(&sh->saved);
    if (sh->is_counted)
        atomic_fetch_sub(&sh->sb->image->shell.n_live, 1);
    resident_free(sh->res);
    shell_pages_put(sh->pages);
    free(sh->closed);
    streams_fini(&sh->streams);
    capture_put(sh->background);
    free(sh);
}
DEFINE_CLEANUP(struct shell *, shell_free)

/* Standard input and output are not saved: they belong to the command that has
 * just ended. The new state is complete before the old one is freed. */
int
shell_save_task(struct shell *sh)
{
    struct task *t = sh->res->task;
    struct saved now = {.status = sh->status,
                        .has_env = sh->has_env,
                        .is_fresh = sh->res->is_fresh};

    int r = fd_table_copy(&now.fds, &t->fds);
    if (r < 0)
        return r;
    for (size_t i = 0; i < STDIO_FDS && i < now.fds.cap; i++) {
        file_put(STEAL(now.fds.v[i].file));
        now.fds.v[i].cloexec = false;
    }
    resident_get_state(t, &now.state);
    memcpy(now.rlimits, t->rlimits, sizeof now.rlimits);
    now.cwd = t->cwd;
    vnode_hold(&now.cwd);
    saved_fini(&sh->saved);
    sh->saved = now;
    return 0;
}

/* If that folder does not exist, the shell starts in the root. */
static void
shell_enter_home(const struct wsand_sandbox *sb, struct task *t)
{
    struct walk w;

    int r = task_walk(t, &t->as.root, user_of(sb)->home, WALK_DIRECTORY, &w);
    if (r == 0)
        task_set_cwd(t, &w.node, &w.dir, w.name);
}

/* While a command runs, its folder may change at any time. The folder of the
 * last checkpoint is used then. */
int
shell_folder(struct wsand_sandbox *sb, struct vnode *ret)
{
    const struct shell *sh = sb->shell;
    const char *first = sb->options.cwd ? sb->options.cwd : user_of(sb)->home;
    int r;

    if (sh && sh->has_env) {
        *ret = sh->is_running ? sh->saved.cwd : sh->res->task->cwd;
        return 0;
    }
    r = sandbox_find_folder(sb, first, ret);
    return r < 0 ? sandbox_find_folder(sb, "/", ret) : r;
}

/* The new shell has no machine. Its first command creates one. */
int
shell_new(struct wsand_sandbox *sb, OWN struct shell **ret)
{
    CLEANUP(shell_freep) struct shell *sh = calloc(1, sizeof *sh);

    if (!sh)
        return -ENOMEM;
    sh->sb = sb;
    sh->background = capture_new(BACKGROUND_BYTES, true);
    if (!sh->background)
        return -ENOMEM;
    int r = shell_image_load(sb->runtime, sb->image);
    if (r == 0)
        r = resident_new(sb->kernel, program_get(sb->image->shell.program),
                         "/bin/bash", &sh->res);
    if (r != 0)
        return r;
    shell_enter_home(sb, sh->res->task);
    r = shell_save_task(sh);
    if (r != 0)
        return r;
    sh->is_clean = true;
    *ret = STEAL(sh);
    return 0;
}

/* --- thaw, checkpoint, roll back */

/* Keeps the number of shells with a machine up to date. */
static void
shell_count_machine(struct shell *sh)
{
    struct shell_image *si = &sh->sb->image->shell;
    bool has_machine = !sh->res->is_dead;

    if (has_machine && !sh->is_counted)
        atomic_fetch_add(&si->n_live, 1);
    if (!has_machine && sh->is_counted)
        atomic_fetch_sub(&si->n_live, 1);
    sh->is_counted = has_machine;
}

/* Creates a machine from the frozen program and copies the saved pages into it.
 * The first machine also provides the reference for later comparisons. The
 * saved word for signals may be older than the signals. */
int
shell_thaw(struct shell *sh)
{
    struct shell_image *si = &sh->sb->image->shell;

    int r = resident_thaw(sh->res, program_get(si->program),
                          shell_pages_size(sh->pages));
    if (r < 0)
        return r;
    struct machine *m = sh->res->task->thread->machine;
    pthread_mutex_lock(&si->lock);
    r = image_copy_memory(si, m);
    pthread_mutex_unlock(&si->lock);
    if (r < 0) {
        resident_freeze(sh->res);
        return r;
    }
    shell_pages_restore(sh->pages, si, m);
    signal_update_word(sh->res->task);
    shell_count_machine(sh);
    return 0;
}

/* Returns the size of the memory that the next machine needs. The memory of a
 * machine cannot shrink, so a shell that has freed much of it moves to a new
 * machine. */
static uint64_t
shell_size_needed(const struct shell *sh, const struct machine *m)
{
    uint64_t least = sh->sb->image->shell.size, end = sh->res->memory_end;

    end = (end + WASM_PAGE_BYTES - 1) / WASM_PAGE_BYTES * WASM_PAGE_BYTES;
    if (end == 0 || end + SPARE_BYTES > m->size)
        return m->size;
    return end < least ? least : end;
}

/* A shell that has run keeps its machine for the next command. The machine is
 * dropped if it is too large, or if there are many of them: an idle one costs
 * half a megabyte. */
static void
shell_leave_machine(struct shell *sh, const struct machine *m)
{
    struct shell_image *si = &sh->sb->image->shell;

    if (atomic_load(&si->n_live) <= LIVE_SHELLS_MAX &&
        shell_pages_size(sh->pages) == m->size)
        return;
    resident_freeze(sh->res);
    shell_count_machine(sh);
}

/* Saves pages and task together, or neither. `refresh` updates the size of the
 * memory, which may have grown. */
int
shell_checkpoint(struct shell *sh)
{
    if (sh->is_clean || sh->is_running || sh->res->is_dead)
        return 0;
    struct machine *m = sh->res->task->thread->machine;
    m->ops->refresh(m);
    struct shell_pages *pages = NULL;
    int r = shell_pages_take(sh->pages, &sh->sb->image->shell, m->base,
                             shell_size_needed(sh, m), &pages);
    if (r == 0)
        r = shell_save_task(sh);
    if (r < 0) {
        shell_pages_put(pages);
        return r;
    }
    shell_pages_put(sh->pages);
    sh->pages = pages;
    sh->is_clean = true;
    shell_leave_machine(sh, m);
    return 0;
}

/* Restores the task. Standard input and output are left alone: the next command
 * gets its own. */
void
shell_roll_back(struct shell *sh)
{
    struct task *t = sh->res->task;
    struct saved *s = &sh->saved;

    sh->is_clean = true;
    sh->status = s->status;
    sh->has_env = s->has_env;
    sh->res->is_fresh = s->is_fresh;
    shell_count_machine(sh);
    memcpy(t->rlimits, s->rlimits, sizeof t->rlimits);
    for (size_t i = STDIO_FDS; i < t->fds.cap; i++)
        (void)fd_close(t, (int)i);
    for (size_t i = STDIO_FDS; i < s->fds.cap; i++)
        if (s->fds.v[i].file)
            (void)fd_replace(t, (int)i, file_get(s->fds.v[i].file),
                             s->fds.v[i].cloexec);
    resident_set_state(t, &s->state);
    task_set_cwd(t, &s->cwd, &s->cwd, "");
}

void
shell_undo(struct shell *sh)
{
    resident_freeze(sh->res);
    shell_roll_back(sh);
}

int
shell_get(struct wsand_sandbox *sb, struct shell **ret)
{
    int r = sb->shell ? 0 : shell_new(sb, &sb->shell);

    if (r == 0)
        *ret = sb->shell;
    return r;
}

/* A sandbox without a shell has nothing to save. */
int
wsand_checkpoint(struct wsand_sandbox *sb, struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    int r = sb->shell ? shell_checkpoint(sb->shell) : 0;

    return r < 0 ? error_errno(err, -r, "cannot save the shell's state") : 0;
}

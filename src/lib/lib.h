/* What the files of the library share. */
#ifndef LIB_LIB_H
#define LIB_LIB_H

#include "wasmsand.h"

#include "base/list.h"
#include "base/own.h"
#include "kernel/limits.h"
#include "kernel/machine.h"
#include "kernel/wait.h"
#include "lib/gone.h"
#include "lib/mail.h"
#include "lib/pool.h"
#include "lib/turn.h"

#include <pthread.h>
#include <stdio.h>

struct attr;
struct history;
struct image;
struct snapshot;
struct tree;

/* The shell that sandboxes start with (shell.c), made at its first use. */
struct shell_image {
    pthread_mutex_t lock;
    struct program *program;
    uint8_t *memory; /* of an instance that has not run, from live_from on */
    uint64_t size, live_from, dead_from, dead_to; /* as in struct machine */
    _Atomic uint32_t n_live; /* shells that have a machine */
    _Atomic uint32_t n_runs; /* files with pages of shells (shell_pages.c) */
    _Atomic uint64_t least_bytes; /* of memory (minimum.c); 0: not known */
    uint8_t hash[32];             /* of the program, when it was first needed */
    bool has_hash;
};

struct wsand_runtime {
    struct engine *engine;
    struct pool pool;
    struct shell_image shell;
    struct image *image; /* NULL: none */
    struct host_file image_file;
    /* Of the file, made under shell.lock when it is first needed. */
    uint8_t image_hash[32];
    bool has_image_hash;
};

/* Processes beside the shell (process.c). */
struct processes {
    pthread_mutex_t lock;       /* see struct process; none is taken under it */
    struct list running, ended; /* the oldest first */
    /* Of the sandbox's thread. */
    size_t n_ended;
    uint64_t last_id;
    bool is_due;          /* one may have ended, or bytes can be moved */
    struct waiter on_end; /* where init is told of ends */
};

struct wsand_sandbox {
    struct wsand_runtime *runtime;
    struct turn turn; /* guards what follows, where nothing else is said */
    struct mailbox mailbox;
    struct processes processes;
    struct kernel *kernel;
    struct wsand_options options; /* its own copies; without programs */
    struct shell *shell;          /* NULL: not used yet */
    struct outcome *outcome;      /* of the command that runs, or NULL */
    struct snapshot *initial;     /* the state it began with */
    struct list snapshots;        /* the oldest first */
    size_t n_snapshots;
    uint64_t snapshot_bytes; /* that they keep, beside the newest */
    uint64_t last_snapshot;  /* id */
    struct history *history;
    struct gone gone; /* that the state it was copied or restored from had */
    struct snapshot *recorded; /* what wsand_state_changes has told; or NULL */
    bool has_script;           /* a script of that shell was among it */
    bool was_hit[LIMIT_COUNT]; /* by a command, during a file function */
    FILE *strace;
    _Atomic uint64_t pending_signals; /* bit n: signal n */
    _Atomic bool window_changed, is_cancelled;
};

/* Sends what wsand_signal has asked for to the current run. */
void sandbox_send_pending(struct wsand_sandbox *sb);
/* Has wsand_cancel been called in this turn, or the sandbox closed? */
bool sandbox_is_cancelled(const struct wsand_sandbox *sb);
/* Is it being freed? */
bool sandbox_is_closed(const struct wsand_sandbox *sb);

/* A fork with the files of t in its root, and no shell; t NULL: with the files
 * as they are, and the shell of the last checkpoint. */
int sandbox_draft(struct wsand_sandbox *sb, const struct tree *t,
                  OWN struct wsand_sandbox **ret, struct wsand_error *err);

/* Fills *err, if there is one, and returns -errnum. The message begins with
 * the errno's name. */
int error_set(struct wsand_error *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, with the text of errnum after the message. */
int error_errno(struct wsand_error *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "ENOENT: no such file or directory: /path". */
int error_path(struct wsand_error *err, int errnum, const char *path);

/* hostmap.c: maps a host file for reading; of an empty one, bytes is NULL.
 * -EISDIR, -EINVAL for what is no regular file, or what open and mmap give. */
int host_map(const char *path, struct host_file *ret);
void host_unmap(const struct host_file *f);
/* Marks *err as one of the program, and returns r. */
int error_of_program(struct wsand_error *err, int r);
/* Gives *err a class, and returns r. */
int error_of_class(struct wsand_error *err, enum wsand_class c, int r);
/* -ENOSPC: "WHAT limit reached (max: N)", of class LIMIT_EXCEEDED. */
int error_limit(struct wsand_error *err, const char *what, uint64_t max);

/* preload.c: loads the programs of the root image; there are no others then. */
int runtime_close(struct wsand_runtime *rt, struct wsand_error *err);
/* runtime.c: as machine_ops.load, waiting for what is being compiled. */
int runtime_load(struct wsand_runtime *rt, const struct program_source *src,
                 OWN struct program **ret, char *why, size_t why_size);

/* minimum.c: -EINVAL: the shell needs more memory than that. */
int minimum_check(struct wsand_runtime *rt, uint64_t memory_bytes,
                  struct wsand_error *err);

/* sized.c: structures that begin with their size, in the caller's version.
 * -EINVAL and a message that names the structure: its size is less than that
 * of the size itself, or members that this version does not have are set. */
int sized_check(const void *p, const char *name, struct wsand_error *err);
/* *to, of `size` bytes, is what the caller gave; what it did not have is 0. */
int sized_take(void *to, size_t size, const void *from, const char *name,
               struct wsand_error *err);
#define SIZED_TAKE(to, from, name, err) \
    sized_take(to, sizeof *(to), from, name, err)
/* Fills as much of the caller's *to, which was checked, as it has. */
void sized_give(void *to, const void *from, size_t size);

/* options.c: the sandbox's own copies; without programs, and the files of
 * mounts. */
int options_copy(struct wsand_options *to, const struct wsand_options *from);
void options_fini(struct wsand_options *o);
int options_add_mount(struct wsand_options *o, const struct wsand_mount *m);
void options_drop_mount(struct wsand_options *o); /* the last */

/* mounts.c: all that the options of sb, whose kernel has only its root, ask
 * for: `v` with their files, or (NULL) the files that `from` has. */
int mounts_make(struct wsand_sandbox *sb, const struct wsand_mount *v,
                const struct snapshot *from, struct wsand_error *err);

/* skeleton.c: the folders and files of a sandbox without a root image. */
int skeleton_fill(struct tree *t, int64_t now_ns);
/* Makes the folders that `path` needs (a->uid's) and puts a file there. */
int skeleton_put_file(struct tree *t, const char *path, const void *data,
                      size_t len, const struct attr *a, int64_t now_ns,
                      uint64_t *ret_ino);
/* The inode at an absolute path without links; 0: there is none. */
uint64_t skeleton_find(const struct tree *t, const char *path);
/* One more name for an inode. */
int skeleton_link(struct tree *t, const char *path, uint64_t ino,
                  int64_t now_ns);

/* call.c: the commands of the host as programs of a tree. */
int commands_put(struct tree *t, const struct wsand_options *o, int64_t now_ns,
                 struct wsand_error *err);
/* -EINVAL: one has no function, or a name that no program can have. */
int commands_check(const struct wsand_options *o, struct wsand_error *err);
int commands_copy(struct wsand_options *to, const struct wsand_options *from);
void commands_free(struct wsand_options *o);
/* As kernel->host_call, with a sandbox. */
struct hostcall;
struct task;
int call_begin_command(void *arg, struct task *t, const void *in, size_t len,
                       OWN struct hostcall **ret);

/* sandbox.c: the folder at an absolute path, as root finds it. */
struct vnode;
int sandbox_find_folder(struct wsand_sandbox *sb, const char *path,
                        struct vnode *ret);

/* shell.c */
struct shell;
/* The shell's working folder, as the last command that has ended left it;
 * without a shell, the one that it will begin in. Borrowed. */
int shell_folder(struct wsand_sandbox *sb, struct vnode *ret);
/* Has the program of all shells loaded. -ENOEXEC: the image has none. */
int shell_image_load(struct wsand_runtime *rt);
void shell_image_fini(struct shell_image *si);
void shell_free(OWN struct shell *sh); /* NULL is fine */

/* snapshot.c */
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

/* process.c */
void processes_init(struct processes *ps);
/* Kills all; nobody will hear more of them. */
void processes_end(struct wsand_sandbox *sb);
void processes_fini(struct processes *ps);
/* Between the turns of programs: moves bytes, notes ends. */
void processes_turn(struct wsand_sandbox *sb);

/* terminal.c: a terminal of the sandbox connected to one of the host. */
struct file;
struct terminal;
/* Puts the host's terminal into raw mode. */
int terminal_new(struct kernel *k, int hfd, OWN struct terminal **ret);
/* Shows what is left of the output and puts the host's terminal back. */
void terminal_free(OWN struct terminal *term);
struct tty *terminal_tty(struct terminal *term);
/* By its name, so that the programs find it too. */
int terminal_open_tty(struct kernel *k, const struct tty *tty,
                      OWN struct file **ret);
void terminal_resize(struct terminal *term);
/* Between the turns of the programs: moves bytes, if there are any. */
void terminal_turn(struct terminal *term);

#endif

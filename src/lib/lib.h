/* What the files of the library share. */
#ifndef LIB_LIB_H
#define LIB_LIB_H

#include "wasmsand.h"

#include "base/own.h"

#include <pthread.h>
#include <stdio.h>

struct engine;
struct image;
struct kernel;
struct tree;

/* The shell that sandboxes start with (shell.c), made at its first use. */
struct shell_image {
    pthread_mutex_t lock;
    struct program *program;
    uint8_t *memory; /* of an instance that has not run, from live_from on */
    uint64_t size, live_from;
    _Atomic uint32_t n_live; /* shells that have a machine */
};

struct wsand_runtime {
    struct engine *engine;
    struct shell_image shell;
    struct image *image; /* NULL: none */
    const void *image_map;
    size_t image_len;
};

struct wsand_sandbox {
    struct wsand_runtime *runtime;
    struct kernel *kernel;
    struct wsand_options options; /* with copies of mounts, without programs */
    struct shell *shell;          /* NULL: not used yet */
    FILE *strace;
    _Atomic uint64_t pending_signals; /* bit n: signal n */
    _Atomic bool window_changed;
};

/* Sends what wsand_signal has asked for to the current run. */
void sandbox_send_pending(struct wsand_sandbox *sb);

/* Fills *err, if there is one, and returns -errnum. */
int error_set(struct wsand_error *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, with the text of errnum after the message. */
int error_errno(struct wsand_error *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* hostmap.c: maps a host file for reading; an empty one gives NULL. -EISDIR,
 * -EINVAL for what is no regular file, or what open and mmap give. */
int host_map(const char *path, const void **ret, size_t *ret_len);
void host_unmap(const void *map, size_t len);
/* Marks *err as one of the program, and returns r. */
int error_of_program(struct wsand_error *err, int r);

/* skeleton.c: the folders and files of a sandbox without a root image. */
int skeleton_fill(struct tree *t, int64_t now_ns);
/* Makes the folders that `path` needs and puts a file there, root's. */
int skeleton_put_file(struct tree *t, const char *path, const void *data,
                      size_t len, uint32_t mode, int64_t now_ns);

/* shell.c */
struct shell;
void shell_image_fini(struct shell_image *si);
void shell_free(OWN struct shell *sh); /* NULL is fine */
/* A shell in kernel k with the state of `from`, which is checkpointed. */
int shell_copy(struct wsand_sandbox *sb, const struct shell *from,
               OWN struct shell **ret);

/* terminal.c: a terminal of the sandbox connected to one of the host. */
struct file;
struct terminal;
/* Puts the host's terminal into raw mode. */
int terminal_new(struct kernel *k, int hfd, OWN struct terminal **ret);
/* Shows what is left of the output and puts the host's terminal back. */
void terminal_free(OWN struct terminal *term);
struct tty *terminal_tty(struct terminal *term);
void terminal_resize(struct terminal *term);
/* Between the turns of the programs: moves bytes, if there are any. */
void terminal_turn(struct terminal *term);

#endif

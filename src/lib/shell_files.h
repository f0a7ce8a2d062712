/* The open files of a shell as values: how its copies get them back. */
#ifndef LIB_SHELL_FILES_H
#define LIB_SHELL_FILES_H

#include "base/own.h"
#include "lib/inode_ref.h"

#include <stdbool.h>

struct attr;
struct capture;
struct shell;

enum open_how {
    /* At its place: a file, a FIFO, a device without a state. */
    OPEN_AGAIN,
    /* As /dev/null: its contents went with its last name or its processes, as
     * for pipes, sockets and removed files. */
    OPEN_NULL,
    /* Not at all, which the next command reports. */
    OPEN_CLOSED,
    /* As a connection that was reset: one to a host outside. A durable state
     * has it as OPEN_NULL. */
    OPEN_RESET,
};

/* One descriptor of a shell. */
struct open_file {
    int fd;
    int same_as; /* a lower fd of the same open file; 0: none */
    bool cloexec;
    enum open_how how;
    uint32_t flags;
    uint64_t pos;
    struct inode_ref at; /* for OPEN_AGAIN */
};

/* Returns how a file with a path comes back, by its attributes. */
enum open_how shell_files_how(const struct attr *a);
/* Returns the files at the last checkpoint, in the order of descriptors.
 * -ENOMEM
 */
int shell_files_take(const struct shell *sh, OWN struct open_file **ret,
                     size_t *ret_n);
/* Opens the files in a new shell. A file that cannot be opened stays closed. */
int shell_files_open(struct shell *sh, const struct open_file *v, size_t n);
/* Writes a line to `to` for each descriptor that stayed closed, once. */
void shell_files_report(struct shell *sh, struct capture *to);

#endif

/* Open files ("open file descriptions"), which descriptors refer to.
 *
 * An operation never waits. If it would have to, it returns -EAGAIN. io.c
 * then either returns that to the program (O_NONBLOCK), or makes the thread
 * wait until `poll` reports the file ready and repeats the operation. Every
 * file type therefore gets blocking, non-blocking and poll behaviour from the
 * same two functions. */
#ifndef KERNEL_VFS_FILE_H
#define KERNEL_VFS_FILE_H

#include "base/own.h"
#include "kernel/vfs/vfs.h"

#include <poll.h>
#include <stdint.h>
#include <sys/types.h>

struct poll_table;
struct task; /* opaque here: passed on to the operations */

/* A NULL member means the errno in brackets, which file.c returns. */
struct file_ops {
    /* The name that /proc/<pid>/fd shows for a file without a path, for example
     * "pipe": "pipe:[ino]"; "anon_inode:[eventpoll]" is shown unchanged. */
    const char *kind;

    /* Transfer up to len bytes at *pos and advance it; pos is NULL for files
     * without positions. Short counts are fine; 0 on read is the end. -EAGAIN:
     * nothing can be transferred now. len is never 0. After a write with -EPIPE
     * the caller gets SIGPIPE. [EINVAL] */
    int64_t (*read)(struct file *f, struct task *t, void *buf, size_t len,
                    uint64_t *pos);
    int64_t (*write)(struct file *f, struct task *t, const void *buf,
                     size_t len, uint64_t *pos);

    /* Returns the current events (POLL*), and adds the queues that are woken
     * when they change to pt. [always readable and writable] */
    short (*poll)(struct file *f, struct poll_table *pt);

    /* Returns the new position for SEEK_SET, CUR, END, DATA, HOLE. -EAGAIN: not
     * found within the next SEEK_STEP_BYTES. [ESPIPE] */
    int64_t (*seek)(struct file *f, int64_t offset, int whence);

    /* [the attributes of f->node, or those of an anonymous inode] */
    int (*getattr)(struct file *f, struct attr *ret);

    /* `arg` is a guest address or a number, depending on cmd. [ENOTTY] */
    int64_t (*ioctl)(struct file *f, struct task *t, uint32_t cmd,
                     uint32_t arg);

    int (*truncate)(struct file *f, uint64_t size); /* [EINVAL] */
    /* Returns the number of bytes done: less than len after about 1 MiB of
     * work. [ENODEV, ESPIPE] */
    int64_t (*fallocate)(struct file *f, int mode, uint64_t off, uint64_t len);

    /* A descriptor of task t that refers to f is being closed. */
    void (*close)(struct file *f, struct task *t);
    /* Releases f->obj after the last reference is gone. */
    void (*release)(struct file *f);
};

/* An open file. Descriptors, messages in flight and running calls hold
 * references. */
struct file {
    const struct file_ops *ops;
    struct vfs *vfs;
    void *obj;
    uint32_t refs;
    uint32_t in_flight; /* of these, references by messages (inflight.c) */
    uint32_t flags;     /* O_ACCMODE, O_APPEND, O_NONBLOCK, O_PATH, ... */
    uint64_t pos;
    /* each read and write is a message, even an empty one */
    bool is_message;
    bool has_pos;         /* reads and writes move pos; pread is allowed */
    uint64_t anon_ino;    /* inode number shown for a file without a path */
    struct list link;     /* in vfs->files, if it has an inode */
    struct vnode node;    /* held if mnt is not NULL */
    struct vnode dir;     /* the directory it was found in; not held */
    char *name;           /* its name there, or NULL */
    struct list watchers; /* epoll items on this file: epoll.c */
};

/* Creates a file and consumes obj, also on failure (then `release` is called on
 * a temporary file). Counts against the open_files limit: -ENFILE. */
int file_new(struct vfs *v, const struct file_ops *ops, OWN void *obj,
             uint32_t flags, OWN struct file **ret);
/* Sets the inode of f, which is held until the last put. */
void file_set_node(struct file *f, const struct vnode *node);
struct file *file_get(struct file *f);
void file_put(OWN struct file *f);
DEFINE_CLEANUP(struct file *, file_put)

/* Returns the position where f was found; the name is borrowed. */
static inline struct dentry
file_dentry(const struct file *f)
{
    return (struct dentry){f->node, f->dir, f->name};
}

/* Call the operations of f, which must exist, and notify watches. */
int64_t file_read(struct file *f, struct task *t, void *buf, size_t len,
                  uint64_t *pos);
int64_t file_write(struct file *f, struct task *t, const void *buf, size_t len,
                   uint64_t *pos);
/* Sets *pos, the position of the next write, to the end of a file that was
 * opened with O_APPEND. Its write operation uses *pos as it is. 0, -errno. */
int file_append_pos(struct file *f, uint64_t *pos);
bool file_is_readable(const struct file *f);
bool file_is_writable(const struct file *f);
short file_poll(struct file *f, struct poll_table *pt);
int file_getattr(struct file *f, struct attr *ret);
/* Sets the attributes of a file without a path; returns 0. */
int file_anon_attr(const struct file *f, uint32_t mode, struct attr *ret);
/* Implements seek for files without an end: SEEK_SET and SEEK_CUR. */
int64_t file_seek_endless(struct file *f, int64_t offset, int whence);

#endif

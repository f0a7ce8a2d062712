/* Open files ("open file descriptions"): what descriptors refer to.
 *
 * An operation never waits. Where it would have to, it returns -EAGAIN;
 * file.c then either gives that to the program (O_NONBLOCK) or makes the
 * thread wait until `poll` reports the file ready, and the operation runs
 * again. So every file type has blocking, non-blocking and poll behaviour
 * from the same two functions. */
#ifndef KERNEL_FILE_H
#define KERNEL_FILE_H

#include "base/own.h"
#include "kernel/vfs/vfs.h"
#include "kernel/wait.h"

#include <poll.h>
#include <stdint.h>
#include <sys/types.h>

struct file;
struct kernel;
struct task;
struct thread;

/* A NULL member means the errno in brackets, decided in file.c. */
struct file_ops {
    /* What /proc/<pid>/fd shows for a file without a path, for example
     * "pipe": "pipe:[ino]"; "anon_inode:[eventpoll]" is shown as it is. */
    const char *kind;

    /* Transfer up to len bytes at *pos (and advance it); pos is NULL for
     * files without positions. Short counts are fine; 0 on read is the end.
     * -EAGAIN: nothing can be transferred now. len is never 0. A write that
     * gives -EPIPE costs the caller a SIGPIPE. [EINVAL] */
    int64_t (*read)(struct file *f, struct task *t, void *buf, size_t len,
                    uint64_t *pos);
    int64_t (*write)(struct file *f, struct task *t, const void *buf,
                     size_t len, uint64_t *pos);

    /* The events (POLL*) that hold now; adds the queues that will be woken
     * when that changes to pt. [always readable and writable] */
    short (*poll)(struct file *f, struct poll_table *pt);

    /* The new position for SEEK_SET, CUR, END, DATA, HOLE. -EAGAIN: the next
     * SEEK_STEP_BYTES have none of what is looked for. [ESPIPE] */
    int64_t (*seek)(struct file *f, int64_t offset, int whence);

    /* [the attributes of f->node, or those of an anonymous inode] */
    int (*getattr)(struct file *f, struct attr *ret);

    /* `arg` is a guest address or a number, depending on cmd. [ENOTTY] */
    int64_t (*ioctl)(struct file *f, struct task *t, uint32_t cmd,
                     uint32_t arg);

    int (*truncate)(struct file *f, uint64_t size); /* [EINVAL] */
    /* How far it came: less than len after about 1 MiB of work. [ENODEV,
     * ESPIPE] */
    int64_t (*fallocate)(struct file *f, int mode, uint64_t off, uint64_t len);

    /* A descriptor of task t that refers to f is being closed. */
    void (*close)(struct file *f, struct task *t);
    /* The last reference is gone: give up f->obj. */
    void (*release)(struct file *f);
};

struct file {
    const struct file_ops *ops;
    struct kernel *kernel;
    void *obj;
    uint32_t refs;
    uint32_t in_flight; /* of them: those of messages (inflight.c) */
    uint32_t flags;     /* O_ACCMODE, O_APPEND, O_NONBLOCK, O_PATH, ... */
    uint64_t pos;
    bool is_message;      /* each read and write is one, also an empty one */
    bool has_pos;         /* reads and writes move pos; pread is allowed */
    uint64_t anon_ino;    /* inode number shown for a file without a path */
    struct vnode node;    /* held while mnt is not NULL */
    struct vnode dir;     /* where it was found; not held */
    char *name;           /* its name there, or NULL */
    struct list watchers; /* epoll items on this file: epoll.c */
};

/* Takes obj over, also on failure (then `release` is called on a temporary
 * file). Counted against the open_files limit: -ENFILE. */
int file_new(struct kernel *k, const struct file_ops *ops, OWN void *obj,
             uint32_t flags, OWN struct file **ret);
/* Makes f stand for `node`, which is held until the last put. */
void file_set_node(struct file *f, const struct vnode *node);
struct file *file_get(struct file *f);
void file_put(OWN struct file *f);
DEFINE_CLEANUP(struct file *, file_put)

/* Where f was found; the name is borrowed. */
static inline struct dentry
file_dentry(const struct file *f)
{
    return (struct dentry){f->node, f->dir, f->name};
}

/* The operations of f, which must have them; reported to inotify. */
int64_t file_read(struct file *f, struct task *t, void *buf, size_t len,
                  uint64_t *pos);
int64_t file_write(struct file *f, struct task *t, const void *buf, size_t len,
                   uint64_t *pos);
bool file_is_readable(const struct file *f);
bool file_is_writable(const struct file *f);
short file_poll(struct file *f, struct poll_table *pt);
int file_getattr(struct file *f, struct attr *ret);
/* The attributes of a file without a path; 0. */
int file_anon_attr(const struct file *f, uint32_t mode, struct attr *ret);
/* The seek of files that have no end: SEEK_SET and SEEK_CUR. */
int64_t file_seek_endless(struct file *f, int64_t offset, int whence);

#endif

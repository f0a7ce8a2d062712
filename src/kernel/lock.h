/* File locks: flock(2), POSIX record locks and open-file-description locks. All
 * belong to an inode, and each record counts against the limit of locks. */
#ifndef KERNEL_LOCK_H
#define KERNEL_LOCK_H

#include "base/own.h"
#include "kernel/machine.h"

#include <stdbool.h>
#include <stdint.h>

struct file;
struct kernel;
struct locks;
struct task;

enum lock_type { LOCKED_NOT, LOCKED_READ, LOCKED_WRITE };

/* A range of bytes, both ends included; INT64_MAX: to the end of the file. */
struct lock_range {
    int64_t first, last;
};

/* A record lock as requested or found. */
struct record_lock {
    enum lock_type type;
    struct lock_range range;
    bool is_ofd; /* belongs to the open file, otherwise to the process */
    int32_t pid; /* of the holder, -1 for an open file (found only) */
};

/* Sets, changes or (LOCKED_NOT) removes a record lock of t on f. -EAGAIN if
 * another holds a conflicting one; with `waits`, -EWAIT or -EDEADLK instead.
 * -ENOLCK at the limit. */
int lock_set(struct task *t, struct file *f, const struct record_lock *want,
             bool waits);
/* Finds the first lock that conflicts with *lock, or sets LOCKED_NOT. */
void lock_get(struct task *t, struct file *f, struct record_lock *lock);

/* Implements F_GETLK, F_SETLK, F_SETLKW and their OFD variants on the struct
 * flock at `at`; -EINVAL for other commands. */
int64_t lock_fcntl(struct task *t, struct file *f, uint32_t cmd, gaddr at);

/* Implements flock, the lock of the open file f; errors as in lock_set. */
int lock_flock(struct task *t, struct file *f, enum lock_type type, bool waits);

/* Ends the POSIX locks of t on the inode when a descriptor of t for f is
 * closed. */
void locks_close(struct task *t, struct file *f);
/* Ends the flock and OFD locks of f after its last reference is gone. */
void locks_release(struct file *f);

/* Called after all files are gone. Accepts NULL. */
void locks_free(OWN struct locks *l);

#endif

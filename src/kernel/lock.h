/* File locks: flock(2), POSIX record locks and open-file-description locks.
 * All belong to an inode; each record counts against the limit of locks. */
#ifndef KERNEL_LOCK_H
#define KERNEL_LOCK_H

#include "base/own.h"

#include <stdbool.h>
#include <stdint.h>

struct file;
struct kernel;
struct locks;
struct task;

enum lock_type { LOCK_NONE, LOCK_READ, LOCK_WRITE };

/* A range of bytes, both ends included; INT64_MAX: to the end of the file. */
struct lock_range {
    int64_t first, last;
};

/* A record lock as asked for, or as found. */
struct record_lock {
    enum lock_type type;
    struct lock_range range;
    bool is_ofd; /* belongs to the open file, else to the process */
    int32_t pid; /* of the holder, -1 for an open file (found only) */
};

/* Sets, changes or (LOCK_NONE) removes a record lock of t on f. -EAGAIN if
 * another holds a conflicting one; with `waits`, -EWAIT or -EDEADLK instead.
 * -ENOLCK at the limit. */
int lock_set(struct task *t, struct file *f, const struct record_lock *want,
             bool waits);
/* The first lock that conflicts with *lock, or type LOCK_NONE. */
void lock_get(struct task *t, struct file *f, struct record_lock *lock);

/* flock: the lock of the open file f; errors as above. */
int lock_flock(struct task *t, struct file *f, enum lock_type type, bool waits);

/* A descriptor of t for f is being closed: the POSIX locks of t on that
 * inode end. */
void locks_close(struct task *t, struct file *f);
/* The last reference to f is gone: its flock and OFD locks end. */
void locks_release(struct file *f);

void locks_free(OWN struct locks *l);

#endif

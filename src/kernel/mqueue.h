/* POSIX message queues.
 *
 * A queue has a name until it is unlinked, and lives as long as it has a name
 * or an open file. All queues of a sandbox are in kernel->mqueues, in order of
 * their numbers; /dev/mqueue shows them (devfs.c). Its memory for messages is
 * charged when it is created, so that sending never fails for that reason.
 *
 * A copy of all queues, without files and registrations, can live outside of a
 * kernel: forks and snapshots of a sandbox have them. */
#ifndef KERNEL_MQUEUE_H
#define KERNEL_MQUEUE_H

#include "base/own.h"
#include "kernel/vfs/fs.h"

#include <stdbool.h>
#include <stdint.h>

struct cred;
struct file;
struct kernel;
struct list;
struct mqueue;
struct task;

enum {
    MQUEUE_MESSAGES = 10, /* default, and maximum without root */
    MQUEUE_BYTES = 8192,
    MQUEUE_MESSAGES_MAX = 65536,
    MQUEUE_BYTES_MAX = 16 << 20,
    MQUEUE_PRIORITIES = 32768,
};

/* Removes the names of all queues in the list, and so frees them once no file
 * refers to them. */
void mqueues_fini(struct list *queues);
/* Makes *ret, an empty list, a copy of the queues in `from` and of their
 * messages, charged to `to` (NULL: to nobody). -ENOMEM: *ret is empty. */
int mqueues_copy(const struct list *from, struct kernel *to, struct list *ret);
/* Returns the memory that the queues and their messages use. */
uint64_t mqueues_bytes(const struct list *queues);

/* Return a queue with a name, borrowed, or NULL: by its name, by its number, or
 * the one with the lowest number from `id` on. */
struct mqueue *mqueue_find(struct kernel *k, struct name name);
struct mqueue *mqueue_by_id(struct kernel *k, uint64_t id);
struct mqueue *mqueue_from(struct kernel *k, uint64_t id);
uint64_t mqueue_id(const struct mqueue *q);
const char *mqueue_name(const struct mqueue *q);

/* The size of a queue. */
struct mqueue_size {
    uint32_t messages, bytes; /* maximum of both, bytes of one message */
};
/* Creates a queue of t. -EINVAL: a size that is not allowed. -EMFILE:
 * RLIMIT_MSGQUEUE. -ENOSPC: too many queues. -ENOMEM. */
int mqueue_new(struct task *t, struct name name, uint32_t mode,
               struct mqueue_size size, struct mqueue **ret);
/* Removes the name. */
void mqueue_unlink(struct mqueue *q);
void mqueue_getattr(const struct mqueue *q, struct attr *ret);
/* Changes mode and owner. */
int mqueue_setattr(struct mqueue *q, const struct attr *a, unsigned what);
int mqueue_open(struct mqueue *q, uint32_t flags, OWN struct file **ret);

/* --- open queues */

/* Returns the queue of a file, or NULL. */
struct mqueue *mqueue_of(struct file *f);
struct mqueue_size mqueue_size(const struct mqueue *q);
uint32_t mqueue_count(const struct mqueue *q);

/* -EAGAIN: the queue is full. -EFAULT, -ENOMEM. */
int mqueue_send(struct mqueue *q, struct task *t, uint32_t from, uint32_t len,
                uint32_t priority);
/* Copies the oldest message of the highest priority and its priority (at 0: to
 * nowhere), and removes it. Returns its length. -EAGAIN: there is none. */
int64_t mqueue_receive(struct mqueue *q, struct task *t, uint32_t to,
                       uint32_t priority_to);
/* Makes the calling thread of t wait: to receive, or to send. Returns
 * -EWAIT. */
int mqueue_wait(struct file *f, struct task *t, bool receives);

/* How a process is notified of a message in an empty queue. */
struct mqueue_event {
    int notify; /* SIGEV_SIGNAL, SIGEV_NONE, SIGEV_THREAD */
    int sig;
    uint32_t value;
    OWN struct file *counter; /* SIGEV_THREAD: an eventfd; else NULL */
};
/* Registers t; consumes the counter. -EBUSY: somebody is registered. */
int mqueue_register(struct mqueue *q, struct task *t, struct mqueue_event e);
/* Ends the registration if it is that of t. */
void mqueue_unregister(struct mqueue *q, const struct task *t);

#endif

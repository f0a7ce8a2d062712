/* POSIX message queues: names, messages, notification. */
#include "kernel/mqueue.h"

#include "kernel/kernel.h"
#include "kernel/signal.h"
#include "kernel/vfs/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    QUEUES_MAX = 256,    /* without root, as on Linux */
    MESSAGE_BYTES = 64,  /* of a message beside its text */
    QUEUE_BYTES = 1024,  /* of a queue beside its messages */
    STATUS_BYTES = 80,   /* st_size, as on Linux */
    EVENT_MESSAGE = 1,   /* added to the counter of SIGEV_THREAD */
    EVENT_CANCELLED = 2, /* the registration has ended without a message */
};

struct message {
    struct list link;
    uint32_t priority, len;
    uint8_t text[];
};

struct mqueue {
    struct kernel *kernel; /* NULL: a copy outside of a kernel */
    struct list link;      /* in kernel->mqueues; empty: unlinked */
    uint64_t id;
    uint32_t files; /* open ones */
    char name[NAME_BYTES_MAX + 1];
    uint32_t mode, uid, gid;
    int64_t born_ns;
    struct mqueue_size size;
    uint64_t charge;      /* bytes of memory */
    uint32_t charged_uid; /* whose RLIMIT_MSGQUEUE it counts against */
    struct list messages; /* highest priority first, then oldest */
    uint32_t count;
    struct waitq changed;
    struct waitq receivers; /* threads in mq_receive */
    struct task *owner;     /* who is registered for `event`, or NULL */
    struct mqueue_event event;
};

/* --- queues */

static void
mqueue_free(OWN struct mqueue *q)
{
    while (!list_is_empty(&q->messages)) {
        struct message *m =
            CONTAINER_OF(q->messages.next, struct message, link);
        list_remove(&m->link);
        free(m);
    }
    waitq_fini(&q->changed);
    waitq_fini(&q->receivers);
    if (q->kernel)
        limits_uncharge(&q->kernel->limits, LIMIT_memory, q->charge);
    free(q);
}

static void
mqueue_free_if_unused(struct mqueue *q)
{
    if (!q->files && list_is_empty(&q->link))
        mqueue_free(q);
}

void
mqueues_fini(struct list *queues)
{
    while (!list_is_empty(queues))
        mqueue_unlink(CONTAINER_OF(queues->next, struct mqueue, link));
}

void
mqueue_unlink(struct mqueue *q)
{
    list_remove(&q->link);
    mqueue_free_if_unused(q);
}

struct mqueue *
mqueue_find(struct kernel *k, struct name name)
{
    LIST_FOR_EACH(it, &k->mqueues) {
        struct mqueue *q = CONTAINER_OF(it, struct mqueue, link);
        if (strlen(q->name) == name.len && !memcmp(q->name, name.s, name.len))
            return q;
    }
    return NULL;
}

struct mqueue *
mqueue_from(struct kernel *k, uint64_t id)
{
    LIST_FOR_EACH(it, &k->mqueues) {
        struct mqueue *q = CONTAINER_OF(it, struct mqueue, link);
        if (q->id >= id)
            return q;
    }
    return NULL;
}

struct mqueue *
mqueue_by_id(struct kernel *k, uint64_t id)
{
    struct mqueue *q = mqueue_from(k, id);

    return q && q->id == id ? q : NULL;
}

uint64_t
mqueue_id(const struct mqueue *q)
{
    return q->id;
}

const char *
mqueue_name(const struct mqueue *q)
{
    return q->name;
}

struct mqueue_size
mqueue_size(const struct mqueue *q)
{
    return q->size;
}

uint32_t
mqueue_count(const struct mqueue *q)
{
    return q->count;
}

static bool
mqueue_size_is_allowed(const struct task *t, struct mqueue_size s)
{
    bool is_root = t->as.cred.uid == 0;

    return s.messages >= 1 && s.bytes >= 1 &&
           s.messages <= (is_root ? MQUEUE_MESSAGES_MAX : MQUEUE_MESSAGES) &&
           s.bytes <= (is_root ? MQUEUE_BYTES_MAX : MQUEUE_BYTES);
}

/* Checks what the user of t has already against RLIMIT_MSGQUEUE and the number
 * of queues, and charges the memory. */
static int
mqueue_charge(const struct task *t, uint64_t bytes)
{
    uint64_t used = 0, queues = 0;

    LIST_FOR_EACH(it, &t->kernel->mqueues) {
        const struct mqueue *q = CONTAINER_OF(it, struct mqueue, link);
        queues++;
        used += q->charged_uid == t->as.cred.ruid ? q->charge : 0;
    }
    if (queues >= QUEUES_MAX)
        return -ENOSPC;
    if (used + bytes > t->rlimits[RLIMIT_MSGQUEUE].cur)
        return -EMFILE;
    return kernel_charge(t, LIMIT_memory, bytes) ? 0 : -ENOMEM;
}

int
mqueue_new(struct task *t, struct name name, uint32_t mode,
           struct mqueue_size size, struct mqueue **ret)
{
    struct kernel *k = t->kernel;
    uint64_t bytes = QUEUE_BYTES + (uint64_t)size.messages *
                                       ((uint64_t)size.bytes + MESSAGE_BYTES);

    if (!mqueue_size_is_allowed(t, size))
        return -EINVAL;
    int r = mqueue_charge(t, bytes);
    if (r < 0)
        return r;
    struct mqueue *q = calloc(1, sizeof *q);
    if (!q) {
        limits_uncharge(&k->limits, LIMIT_memory, bytes);
        return -ENOMEM;
    }
    q->kernel = k;
    q->id = ++k->last_mqueue;
    memcpy(q->name, name.s, name.len);
    q->mode = mode & 0777;
    q->uid = t->as.cred.uid;
    q->gid = t->as.cred.gid;
    q->born_ns = clock_real_ns(&k->clock);
    q->size = size;
    q->charge = bytes;
    q->charged_uid = t->as.cred.ruid;
    list_init(&q->messages);
    waitq_init(&q->changed);
    waitq_init(&q->receivers);
    list_push_back(&k->mqueues, &q->link);
    *ret = q;
    return 0;
}

/* --- copies */

static int
mqueue_copy_messages(const struct mqueue *from, struct mqueue *to)
{
    LIST_FOR_EACH(it, &from->messages) {
        const struct message *m = CONTAINER_OF(it, struct message, link);
        struct message *copy = malloc(sizeof *m + m->len);
        if (!copy)
            return -ENOMEM;
        memcpy(copy, m, sizeof *m + m->len);
        list_push_back(&to->messages, &copy->link);
    }
    return 0;
}

/* Adds the copy to the list, even if its messages could not be copied. */
static int
mqueue_copy(const struct mqueue *from, struct kernel *to, struct list *ret)
{
    if (to && !limits_charge(&to->limits, LIMIT_memory, from->charge))
        return -ENOMEM;
    struct mqueue *q = malloc(sizeof *q);
    if (!q) {
        if (to)
            limits_uncharge(&to->limits, LIMIT_memory, from->charge);
        return -ENOMEM;
    }
    *q = *from;
    q->kernel = to;
    q->files = 0;
    q->owner = NULL;
    q->event = (struct mqueue_event){0};
    list_init(&q->messages);
    waitq_init(&q->changed);
    waitq_init(&q->receivers);
    list_push_back(ret, &q->link);
    if (to && to->last_mqueue < q->id)
        to->last_mqueue = q->id;
    return mqueue_copy_messages(from, q);
}

int
mqueues_copy(const struct list *from, struct kernel *to, struct list *ret)
{
    int r = 0;

    LIST_FOR_EACH(it, from) {
        r = mqueue_copy(CONTAINER_OF(it, struct mqueue, link), to, ret);
        if (r < 0)
            break;
    }
    if (r < 0)
        mqueues_fini(ret);
    return r;
}

uint64_t
mqueues_bytes(const struct list *queues)
{
    uint64_t bytes = 0;

    LIST_FOR_EACH(it, queues) {
        const struct mqueue *q = CONTAINER_OF(it, struct mqueue, link);
        bytes += QUEUE_BYTES;
        LIST_FOR_EACH(m, &q->messages)
            bytes += MESSAGE_BYTES + CONTAINER_OF(m, struct message, link)->len;
    }
    return bytes;
}

/* --- attributes */

void
mqueue_getattr(const struct mqueue *q, struct attr *ret)
{
    ret->ino = q->id;
    ret->mode = S_IFREG | q->mode;
    ret->nlink = list_is_empty(&q->link) ? 0 : 1;
    ret->uid = q->uid;
    ret->gid = q->gid;
    ret->size = STATUS_BYTES;
    ret->blksize = 4096;
    ret->atime_ns = ret->mtime_ns = ret->ctime_ns = q->born_ns;
}

int
mqueue_setattr(struct mqueue *q, const struct attr *a, unsigned what)
{
    if (what & ATTR_SIZE)
        return -EINVAL;
    if (what & ATTR_MODE)
        q->mode = a->mode & 0777;
    if (what & ATTR_UID)
        q->uid = a->uid;
    if (what & ATTR_GID)
        q->gid = a->gid;
    return 0;
}

/* --- notification */

/* The event ends the registration. */
static void
mqueue_end_registration(struct mqueue *q, uint64_t event)
{
    struct file *counter = STEAL(q->event.counter);

    if (counter)
        (void)file_write(counter, q->owner, &event, sizeof event, NULL);
    q->owner = NULL;
    file_put(counter);
}

/* A message has come to an empty queue in which nobody waits. */
static void
mqueue_notify(struct mqueue *q, const struct task *sender)
{
    struct task *to = q->owner;
    struct siginfo_k si = {.signo = q->event.sig,
                           .code = SI_MESGQ,
                           .pid = sender->pid,
                           .uid = sender->as.cred.ruid,
                           .value = q->event.value};

    if (!to)
        return;
    int notify = q->event.notify;
    mqueue_end_registration(q, EVENT_MESSAGE);
    if (notify == SIGEV_SIGNAL)
        (void)signal_send(to, &si);
}

int
mqueue_register(struct mqueue *q, struct task *t, struct mqueue_event e)
{
    if (q->owner) {
        file_put(e.counter);
        return -EBUSY;
    }
    q->owner = t;
    q->event = e;
    return 0;
}

void
mqueue_unregister(struct mqueue *q, const struct task *t)
{
    if (q->owner == t)
        mqueue_end_registration(q, EVENT_CANCELLED);
}

/* --- messages */

/* Behind all messages of its priority. */
static void
mqueue_insert(struct mqueue *q, struct message *m)
{
    struct list *at = q->messages.prev;

    while (at != &q->messages &&
           CONTAINER_OF(at, struct message, link)->priority < m->priority)
        at = at->prev;
    list_insert_after(at, &m->link);
}

int
mqueue_send(struct mqueue *q, struct task *t, gaddr from, uint32_t len,
            uint32_t priority)
{
    if (q->count == q->size.messages)
        return -EAGAIN;
    struct message *m = malloc(sizeof *m + len);
    if (!m)
        return -ENOMEM;
    int r = len ? copy_from_guest(t, m->text, from, len) : 0;
    if (r < 0) {
        free(m);
        return r;
    }
    m->priority = priority;
    m->len = len;
    mqueue_insert(q, m);
    if (q->count++ == 0 && waitq_is_empty(&q->receivers))
        mqueue_notify(q, t);
    waitq_wake(&q->receivers);
    waitq_wake(&q->changed);
    return 0;
}

int64_t
mqueue_receive(struct mqueue *q, struct task *t, gaddr to, gaddr priority_to)
{
    if (!q->count)
        return -EAGAIN;
    struct message *m = CONTAINER_OF(q->messages.next, struct message, link);
    int64_t len = m->len;
    int r = len ? copy_to_guest(t, to, m->text, m->len) : 0;
    if (r == 0 && priority_to)
        r = copy_to_guest(t, priority_to, &m->priority, sizeof m->priority);
    if (r < 0)
        return r;
    list_remove(&m->link);
    free(m);
    q->count--;
    waitq_wake(&q->changed);
    return len;
}

int
mqueue_wait(struct file *f, struct task *t, bool receives)
{
    struct mqueue *q = f->obj;

    if (receives)
        thread_wait_on(t->thread, &q->receivers);
    return thread_wait_file(t->thread, f);
}

/* --- files */

/* The text that Linux shows. */
static int64_t
mqueue_read(struct file *f, struct task *t, void *buf, size_t len,
            uint64_t *pos)
{
    const struct mqueue *q = f->obj;
    char text[128];
    uint64_t bytes = 0;

    (void)t;
    LIST_FOR_EACH(it, &q->messages)
        bytes += CONTAINER_OF(it, struct message, link)->len;
    int n = snprintf(text, sizeof text,
                     "QSIZE:%-10llu NOTIFY:%-5d SIGNO:%-5d NOTIFY_PID:%-6d\n",
                     (unsigned long long)bytes, q->owner ? q->event.notify : 0,
                     q->owner ? q->event.sig : 0, q->owner ? q->owner->pid : 0);
    if (*pos >= (uint64_t)n)
        return 0;
    size_t left = (size_t)n - (size_t)*pos;
    size_t count = left < len ? left : len;
    memcpy(buf, text + *pos, count);
    *pos += count;
    return (int64_t)count;
}

static short
mqueue_poll(struct file *f, struct poll_table *pt)
{
    struct mqueue *q = f->obj;
    short events = 0;

    poll_wait(pt, &q->changed);
    if (q->count)
        events |= POLLIN | POLLRDNORM;
    if (q->count < q->size.messages)
        events |= POLLOUT | POLLWRNORM;
    return events;
}

static int
mqueue_file_getattr(struct file *f, struct attr *ret)
{
    *ret = (struct attr){0};
    mqueue_getattr(f->obj, ret);
    return 0;
}

/* POSIX: closing any descriptor of the queue ends the registration of the
 * process. */
static void
mqueue_close(struct file *f, struct task *t)
{
    mqueue_unregister(f->obj, t);
}

static void
mqueue_release(struct file *f)
{
    struct mqueue *q = f->obj;

    q->files--;
    mqueue_free_if_unused(q);
}

static const struct file_ops mqueue_ops = {
    .kind = "mqueue",
    .read = mqueue_read,
    .poll = mqueue_poll,
    .getattr = mqueue_file_getattr,
    .close = mqueue_close,
    .release = mqueue_release,
};

struct mqueue *
mqueue_of(struct file *f)
{
    return f && f->ops == &mqueue_ops ? f->obj : NULL;
}

int
mqueue_open(struct mqueue *q, uint32_t flags, OWN struct file **ret)
{
    q->files++;
    int r = file_new(&q->kernel->vfs, &mqueue_ops, q,
                     flags & (O_ACCMODE | O_NONBLOCK), ret);
    if (r == 0)
        (*ret)->has_pos = true;
    return r;
}

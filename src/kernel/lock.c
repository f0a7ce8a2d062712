/* File locks.
 *
 * The records of an inode are sorted by their first byte. Those of one owner
 * never overlap, and touching ones of one type are merged, so a range has a
 * unique representation. An inode without records has no struct lock_inode.
 *
 * Deadlocks of POSIX locks: a process without threads waits for at most one
 * lock, so the waits form chains. Before a process waits, the chain from the
 * holder is followed; if it leads back to the process, waiting would close a
 * cycle, and the call fails with EDEADLK. A process with threads may wait for
 * several locks. As on Linux, the oldest of these waits is followed, so some
 * deadlocks of threads are not found. */
#include "kernel/lock.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <stdlib.h>

enum { INODE_BUCKETS = 64 };

/* All locks of a sandbox. Inodes are found by number. */
struct locks {
    struct list inodes[INODE_BUCKETS];
    struct list waits; /* struct lock_wait: who waits for whose POSIX lock */
};

/* The locks of one inode: record locks, flocks, and their waiters. */
struct lock_inode {
    struct list link;
    const struct fs *fs; /* NULL: a file without a path */
    uint64_t ino;
    struct list records, flocks;
    struct waitq changed;
};

/* One record lock, or one flock (of the whole file). */
struct record {
    struct list link;
    const void *owner; /* struct task or struct file: never followed */
    int32_t pid;       /* -1 if it belongs to an open file */
    enum lock_type type;
    struct lock_range range;
};

/* A task that waits for a POSIX lock. */
struct lock_wait {
    struct call_hold hold;
    struct list link;
    const struct lock_inode *inode;
    const void *waiter, *holder; /* holder NULL: woken, about to try again */
};

/* --- inodes */

static int
locks_need(struct kernel *k)
{
    if (k->locks)
        return 0;
    struct locks *l = malloc(sizeof *l);
    if (!l)
        return -ENOMEM;
    for (int i = 0; i < INODE_BUCKETS; i++)
        list_init(&l->inodes[i]);
    list_init(&l->waits);
    k->locks = l;
    return 0;
}

static const struct fs *
fs_of(const struct file *f)
{
    return f->node.mnt ? f->node.mnt->fs : NULL;
}

static uint64_t
lock_ino_of(const struct file *f)
{
    return f->node.mnt ? f->node.ino : f->anon_ino;
}

/* Files without a path, such as pipes, are found by their anonymous number. */
static struct lock_inode *
inode_find(const struct file *f)
{
    struct locks *l = kernel_of(f->vfs)->locks;

    if (!l)
        return NULL;
    LIST_FOR_EACH(it, &l->inodes[lock_ino_of(f) % INODE_BUCKETS]) {
        struct lock_inode *n = CONTAINER_OF(it, struct lock_inode, link);
        if (n->ino == lock_ino_of(f) && n->fs == fs_of(f))
            return n;
    }
    return NULL;
}

static struct lock_inode *
inode_find_or_new(struct file *f)
{
    struct lock_inode *n = inode_find(f);

    if (n || locks_need(kernel_of(f->vfs)) < 0)
        return n;
    n = malloc(sizeof *n);
    if (!n)
        return NULL;
    *n = (struct lock_inode){.fs = fs_of(f), .ino = lock_ino_of(f)};
    list_init(&n->records);
    list_init(&n->flocks);
    waitq_init(&n->changed);
    list_push_back(&kernel_of(f->vfs)->locks->inodes[n->ino % INODE_BUCKETS],
                   &n->link);
    return n;
}

/* Wakes all waiters of n after something was unlocked. Their waits are no
 * longer edges of the graph until they try again. */
static void
inode_wake(struct kernel *k, struct lock_inode *n)
{
    LIST_FOR_EACH(it, &k->locks->waits) {
        struct lock_wait *w = CONTAINER_OF(it, struct lock_wait, link);
        if (w->inode == n)
            w->holder = NULL;
    }
    waitq_wake(&n->changed);
}

/* Called after every removal: an inode without locks has no entry, and its
 * waiters were woken before. */
static void
inode_free_unused(struct lock_inode *n)
{
    if (!list_is_empty(&n->records) || !list_is_empty(&n->flocks))
        return;
    waitq_fini(&n->changed);
    list_remove(&n->link);
    free(n);
}

/* --- records */

static struct record *
record_new(struct kernel *k)
{
    if (!limits_charge(&k->limits, LIMIT_locks, 1))
        return NULL;
    struct record *r = malloc(sizeof *r);
    if (!r) {
        limits_uncharge(&k->limits, LIMIT_locks, 1);
        return NULL;
    }
    list_init(&r->link);
    return r;
}

static void
record_free(struct kernel *k, OWN struct record *r)
{
    if (!r)
        return;
    list_remove(&r->link);
    limits_uncharge(&k->limits, LIMIT_locks, 1);
    free(r);
}

static bool
lock_overlaps(struct lock_range a, struct lock_range b)
{
    return a.first <= b.last && b.first <= a.last;
}

/* Returns true if the ranges overlap or are adjacent. The end of a range may be
 * INT64_MAX, to which nothing can be added. */
static bool
lock_touches(struct lock_range a, struct lock_range b)
{
    bool a_before = a.last != INT64_MAX && a.last + 1 == b.first;
    bool b_before = b.last != INT64_MAX && b.last + 1 == a.first;

    return lock_overlaps(a, b) || a_before || b_before;
}

/* Two locks conflict if they overlap, have different owners, and one of them is
 * a write lock. */
static struct record *
lock_find_conflict(const struct list *records, const void *owner,
                   enum lock_type type, struct lock_range range)
{
    LIST_FOR_EACH(it, records) {
        struct record *r = CONTAINER_OF(it, struct record, link);
        bool excludes = type == LOCKED_WRITE || r->type == LOCKED_WRITE;
        if (r->owner != owner && excludes && lock_overlaps(r->range, range))
            return r;
    }
    return NULL;
}

/* New locks are often at the end, so the search starts there. */
static void
lock_insert_sorted(struct list *records, struct record *r)
{
    struct list *at = records->prev;

    while (at != records &&
           CONTAINER_OF(at, struct record, link)->range.first > r->range.first)
        at = at->prev;
    list_insert_after(at, &r->link);
}

/* Removes `hole` from r. If both ends remain, the second one uses *spare:
 * memory is allocated before anything changes, so that a change cannot fail
 * half-way. */
static void
lock_cut(struct kernel *k, struct record *r, struct lock_range hole,
         struct record **spare)
{
    struct lock_range old = r->range;
    bool has_head = old.first<hole.first, has_tail = old.last> hole.last;

    if (!has_head && !has_tail) {
        record_free(k, r);
        return;
    }
    if (has_head)
        r->range.last = hole.first - 1;
    else
        r->range.first = hole.last + 1;
    if (!has_head || !has_tail)
        return;
    struct record *tail = STEAL(*spare);
    tail->owner = r->owner;
    tail->pid = r->pid;
    tail->type = r->type;
    tail->range = (struct lock_range){hole.last + 1, old.last};
    list_insert_after(&r->link, &tail->link);
}

/* Prepares the records of this owner for `want`: records of the same type that
 * touch it are merged into it, and others are cut. */
static void
lock_carve(struct kernel *k, struct lock_inode *n, const void *owner,
           struct record_lock *want, struct record **spare)
{
    LIST_FOR_EACH_SAFE(it, &n->records) {
        struct record *r = CONTAINER_OF(it, struct record, link);
        if (r->owner != owner || !lock_touches(r->range, want->range))
            continue;
        if (r->type == want->type) {
            if (r->range.first < want->range.first)
                want->range.first = r->range.first;
            if (r->range.last > want->range.last)
                want->range.last = r->range.last;
            record_free(k, r);
        } else if (lock_overlaps(r->range, want->range)) {
            lock_cut(k, r, want->range, spare);
        }
    }
}

/* Returns true if a record of the owner would be cut in two, which needs one
 * more. */
static bool
lock_splits(const struct lock_inode *n, const void *owner,
            const struct record_lock *want)
{
    LIST_FOR_EACH(it, &n->records) {
        struct record *r = CONTAINER_OF(it, struct record, link);
        if (r->owner == owner && r->type != want->type &&
            r->range.first < want->range.first &&
            r->range.last > want->range.last)
            return true;
    }
    return false;
}

/* Everything that can fail comes first: the new record and a spare one. */
static int
lock_apply(struct task *t, struct lock_inode *n, const void *owner,
           struct record_lock want)
{
    struct kernel *k = t->kernel;
    bool adds = want.type != LOCKED_NOT, cuts = lock_splits(n, owner, &want);
    struct record *mine = adds ? record_new(k) : NULL;
    struct record *spare = cuts ? record_new(k) : NULL;

    if ((adds && !mine) || (cuts && !spare)) {
        record_free(k, mine);
        record_free(k, spare);
        return -ENOLCK;
    }
    lock_carve(k, n, owner, &want, &spare);
    if (mine) {
        mine->owner = owner;
        mine->pid = want.is_ofd ? -1 : t->pid;
        mine->type = want.type;
        mine->range = want.range;
        lock_insert_sorted(&n->records, mine);
    }
    inode_wake(k, n);
    return 0;
}

/* --- waiting */

static void
lock_wait_drop(OWN struct call_hold *h)
{
    struct lock_wait *w = CONTAINER_OF(h, struct lock_wait, hold);

    list_remove(&w->link);
    free(w);
}

/* Ends the wait of an earlier try. */
static void
lock_wait_end(struct thread *th)
{
    struct call_hold *h = th->call.hold;

    if (!h || h->drop != lock_wait_drop)
        return;
    th->call.hold = NULL;
    lock_wait_drop(h);
}

/* Returns the owner of the POSIX lock that `waiter` waits for, or NULL. */
static const void *
lock_waits_for(const struct locks *l, const void *waiter)
{
    LIST_FOR_EACH(it, &l->waits) {
        struct lock_wait *w = CONTAINER_OF(it, struct lock_wait, link);
        if (w->waiter == waiter)
            return w->holder;
    }
    return NULL;
}

/* Returns true if t would wait for itself by waiting for `holder`. Waits of
 * threads may have formed a cycle of other processes. A chain that has more
 * steps than there are waits has run into one, and does not lead to t. */
static bool
lock_is_deadlock(const struct locks *l, const struct task *t,
                 const void *holder)
{
    LIST_FOR_EACH(it, &l->waits) {
        if (!holder || holder == t)
            break;
        holder = lock_waits_for(l, holder);
    }
    return holder == t;
}

/* Waits for OFD locks and flocks are not part of the graph: their owners are
 * open files, which several processes may share. */
static int
lock_wait_begin(struct task *t, struct lock_inode *n,
                const struct record *holder, bool is_ofd)
{
    struct locks *l = t->kernel->locks;
    bool is_posix = !is_ofd && holder->pid >= 0;

    if (is_posix && lock_is_deadlock(l, t, holder->owner))
        return -EDEADLK;
    if (is_posix) {
        struct lock_wait *w = malloc(sizeof *w);
        if (!w)
            return -ENOMEM;
        *w = (struct lock_wait){.hold.drop = lock_wait_drop,
                                .inode = n,
                                .waiter = t,
                                .holder = holder->owner};
        list_push_back(&l->waits, &w->link);
        t->thread->call.hold = &w->hold;
    }
    t->thread->call.restartable = true;
    thread_wait_on(t->thread, &n->changed);
    return -EWAIT;
}

/* --- what the rest of the kernel calls */

/* Each try starts from the beginning, so the wait of the last try ends here. */
int
lock_set(struct task *t, struct file *f, const struct record_lock *want,
         bool waits)
{
    const void *owner = want->is_ofd ? (const void *)f : (const void *)t;
    struct record *other = NULL;

    lock_wait_end(t->thread);
    struct lock_inode *n =
        want->type == LOCKED_NOT ? inode_find(f) : inode_find_or_new(f);
    if (!n)
        return want->type == LOCKED_NOT ? 0 : -ENOLCK;
    if (want->type != LOCKED_NOT)
        other = lock_find_conflict(&n->records, owner, want->type, want->range);
    if (other)
        return waits ? lock_wait_begin(t, n, other, want->is_ofd) : -EAGAIN;
    int r = lock_apply(t, n, owner, *want);
    inode_free_unused(n);
    return r;
}

void
lock_get(struct task *t, struct file *f, struct record_lock *lock)
{
    const void *owner = lock->is_ofd ? (const void *)f : (const void *)t;
    struct lock_inode *n = inode_find(f);
    struct record *r =
        n ? lock_find_conflict(&n->records, owner, lock->type, lock->range)
          : NULL;

    if (!r) {
        lock->type = LOCKED_NOT;
        return;
    }
    lock->type = r->type;
    lock->range = r->range;
    lock->pid = r->pid;
}

/* Removes all records of the owner. Returns true if there were any. */
static bool
lock_remove_of(struct kernel *k, struct list *records, const void *owner)
{
    bool found = false;

    LIST_FOR_EACH_SAFE(it, records) {
        struct record *r = CONTAINER_OF(it, struct record, link);
        if (r->owner != owner)
            continue;
        record_free(k, r);
        found = true;
    }
    return found;
}

/* Sets the flock of an open file. As on Linux, a change of type gives up the
 * old lock first, so two files that upgrade at the same time do not
 * deadlock. */
int
lock_flock(struct task *t, struct file *f, enum lock_type type, bool waits)
{
    const struct lock_range all = {0, INT64_MAX};
    struct lock_inode *n =
        type == LOCKED_NOT ? inode_find(f) : inode_find_or_new(f);

    if (!n)
        return type == LOCKED_NOT ? 0 : -ENOLCK;
    if (lock_remove_of(t->kernel, &n->flocks, f))
        inode_wake(t->kernel, n);
    if (type == LOCKED_NOT) {
        inode_free_unused(n);
        return 0;
    }
    if (lock_find_conflict(&n->flocks, f, type, all)) {
        if (!waits)
            return -EAGAIN;
        t->thread->call.restartable = true;
        thread_wait_on(t->thread, &n->changed);
        return -EWAIT;
    }
    struct record *r = record_new(t->kernel);
    if (!r) {
        inode_free_unused(n);
        return -ENOLCK;
    }
    r->owner = f;
    r->pid = -1;
    r->type = type;
    r->range = all;
    list_push_back(&n->flocks, &r->link);
    return 0;
}

/* POSIX: closing any descriptor of a file ends all locks of the process on
 * it. */
void
locks_close(struct task *t, struct file *f)
{
    struct lock_inode *n = inode_find(f);

    if (!n)
        return;
    if (lock_remove_of(t->kernel, &n->records, t))
        inode_wake(t->kernel, n);
    inode_free_unused(n);
}

/* The owner of these locks is the open file, which all duplicates share. */
void
locks_release(struct file *f)
{
    struct lock_inode *n = inode_find(f);

    if (!n)
        return;
    bool had_records = lock_remove_of(kernel_of(f->vfs), &n->records, f);
    if (lock_remove_of(kernel_of(f->vfs), &n->flocks, f) || had_records)
        inode_wake(kernel_of(f->vfs), n);
    inode_free_unused(n);
}

void
locks_free(OWN struct locks *l)
{
    free(l);
}

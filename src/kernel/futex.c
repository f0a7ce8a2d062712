/* Futexes.
 *
 * Problem: after the guest has read a word and before its call, another thread
 * may change the word and wake. Then the caller would sleep for ever.
 *
 * Idea: FUTEX_WAIT has the value that was seen. The kernel compares it again,
 * and enters the thread into a queue before any other thread can run. From then
 * on every wake finds it. A waiting call is repeated after each wake-up of its
 * thread (thread.c); is_woken says whether a wake was meant for it, or whether
 * it was a signal or the deadline. */
#include "kernel/futex.h"

#include "kernel/abi.h"
#include "kernel/kernel.h"
#include "kernel/shm.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <limits.h>

enum {
    OP_WAIT = 0,
    OP_WAKE = 1,
    OP_REQUEUE = 3,
    OP_CMP_REQUEUE = 4,
    OP_WAKE_OP = 5,
    OP_WAIT_BITSET = 9,
    OP_WAKE_BITSET = 10,
    OP_MASK = 127,
    FLAG_REALTIME = 256,
};
#define ANY_BIT UINT32_MAX

/* Identifies the word at `at`: by the object and its offset in shared memory,
 * otherwise by the process and the address. */
static struct futex_key
futex_key(struct task *t, gaddr at)
{
    const struct task *space = shm_space(t);
    const struct shm_map *m = space->n_maps ? shm_next(space, at) : NULL;

    if (m && m->at <= at)
        return (struct futex_key){m->mem, at - m->at + m->offset};
    return (struct futex_key){space, at};
}

static bool
futex_is_same(const struct futex_key *a, const struct futex_key *b)
{
    return a->space == b->space && a->at == b->at;
}

static struct list *
futex_bucket(struct kernel *k, const struct futex_key *key)
{
    uint64_t hash = (uintptr_t)key->space / 16 * 2654435761u ^ key->at >> 2;

    return &k->futexes[hash % FUTEX_BUCKETS];
}

/* A call that waits for a futex is over. */
static void
futex_drop(OWN struct call_hold *h)
{
    struct futex_wait *w = CONTAINER_OF(h, struct futex_wait, hold);

    list_remove(&w->link);
    w->is_woken = false;
}

void
futex_init(struct futex_wait *w)
{
    w->hold.drop = futex_drop;
    list_init(&w->link);
}

static struct thread *
futex_thread(struct futex_wait *w)
{
    return CONTAINER_OF(w, struct thread, futex);
}

/* --- waking */

int
futex_wake(struct task *t, gaddr at, int n, uint32_t bits)
{
    const struct futex_key key = futex_key(t, at);
    struct list *bucket = futex_bucket(t->kernel, &key);
    int woken = 0;

    LIST_FOR_EACH_SAFE(it, bucket) {
        struct futex_wait *w = CONTAINER_OF(it, struct futex_wait, link);
        if (woken >= n)
            break;
        if (!futex_is_same(&w->key, &key) || !(w->bits & bits))
            continue;
        list_remove(&w->link);
        w->is_woken = true;
        thread_wake(futex_thread(w));
        woken++;
    }
    return woken;
}

/* Wakes n threads and lets up to `moved` others wait at `to` instead.
 *
 * pthread_cond_broadcast needs this: of all threads that are woken, only one
 * can get the mutex. The others move to the queue of the mutex and are woken
 * one by one when it is released. */
static int64_t
futex_requeue(struct task *t, gaddr at, int n, int moved, gaddr to)
{
    const struct futex_key key = futex_key(t, at), to_key = futex_key(t, to);
    struct list *bucket = futex_bucket(t->kernel, &key);
    struct list *target = futex_bucket(t->kernel, &to_key);
    int64_t total = futex_wake(t, at, n, ANY_BIT);

    LIST_FOR_EACH_SAFE(it, bucket) {
        struct futex_wait *w = CONTAINER_OF(it, struct futex_wait, link);
        if (moved <= 0 || futex_is_same(&key, &to_key))
            break;
        if (!futex_is_same(&w->key, &key))
            continue;
        list_remove(&w->link);
        w->key = to_key;
        list_push_back(target, &w->link);
        moved--;
        total++;
    }
    return total;
}

/* Changes the second word as `how` says. Returns whether its old value passes
 * the comparison in `how`: 0, 1; -EFAULT, -ENOSYS. */
static int
futex_apply(struct task *t, gaddr at, uint32_t how)
{
    enum { SET, ADD, OR, ANDN, XOR, SHIFT = 8 };
    enum { EQ, NE, LT, LE, GT, GE };
    int32_t arg = (int32_t)(how << 8) >> 20, cmp = (int32_t)(how << 20) >> 20;
    uint32_t op = how >> 28;
    int32_t old, new;

    if (op & SHIFT)
        arg = (int32_t)(1u << (arg & 31));
    int r = copy_from_guest(t, &old, at, sizeof old);
    if (r < 0)
        return r;
    switch (op & ~(uint32_t)SHIFT) {
    case SET:
        new = arg;
        break;
    case ADD:
        new = (int32_t)((uint32_t)old + (uint32_t)arg);
        break;
    case OR:
        new = old | arg;
        break;
    case ANDN:
        new = old & ~arg;
        break;
    case XOR:
        new = old ^ arg;
        break;
    default:
        return -ENOSYS;
    }
    r = copy_to_guest(t, at, &new, sizeof new);
    if (r < 0)
        return r;
    switch (how >> 24 & 15) {
    case EQ:
        return old == cmp;
    case NE:
        return old != cmp;
    case LT:
        return old < cmp;
    case LE:
        return old <= cmp;
    case GT:
        return old > cmp;
    case GE:
        return old >= cmp;
    default:
        return -ENOSYS;
    }
}

/* --- waiting */

/* The deadline of a wait: its timeout is relative for FUTEX_WAIT, else a time
 * of the monotonic or the real clock. */
static int
futex_deadline(struct task *t, uint32_t op, gaddr timeout, int64_t *ret)
{
    struct clock *c = &t->kernel->clock;
    int64_t ns;

    *ret = NS_NEVER;
    if (!timeout)
        return 0;
    int r = abi_get_time(t, timeout, &ns);
    if (r < 0)
        return r;
    if ((op & OP_MASK) == OP_WAIT)
        *ret = clock_after(c, ns);
    else if (op & FLAG_REALTIME)
        *ret = clock_after(c, ns - clock_real_ns(c));
    else
        *ret = ns;
    return 0;
}

static int64_t
futex_wait(struct task *t, const union sysarg *a, uint32_t bits)
{
    struct thread *th = t->thread;
    struct futex_wait *w = &th->futex;
    int64_t deadline = NS_NEVER;
    uint32_t now;

    if (w->is_woken)
        return 0;
    if (!th->call.is_retry) {
        int r = copy_from_guest(t, &now, a[0].addr, sizeof now);
        if (r == 0)
            r = futex_deadline(t, a[1].u, a[3].addr, &deadline);
        if (r < 0)
            return r;
        if (now != a[2].u)
            return -EAGAIN;
    }
    if (thread_deadline(th, deadline))
        return -ETIMEDOUT;
    if (list_is_empty(&w->link)) {
        w->key = futex_key(t, a[0].addr);
        w->bits = bits;
        list_push_back(futex_bucket(t->kernel, &w->key), &w->link);
        th->call.hold = &w->hold;
    }
    th->call.restartable = !a[3].addr;
    return -EWAIT;
}

/* futex(addr, op, value, timeout or value2, addr2, value3) */
int64_t
sys_futex(struct task *t, const union sysarg *a)
{
    gaddr at = a[0].addr, other = a[4].addr;
    uint32_t op = a[1].u & OP_MASK, now;
    int n = a[2].i, r;

    if (at & 3 || (op >= OP_REQUEUE && op <= OP_WAKE_OP && other & 3))
        return -EINVAL;
    switch (op) {
    case OP_WAIT:
        return futex_wait(t, a, ANY_BIT);
    case OP_WAIT_BITSET:
        return a[5].u ? futex_wait(t, a, a[5].u) : -EINVAL;
    case OP_WAKE:
        return futex_wake(t, at, n, ANY_BIT);
    case OP_WAKE_BITSET:
        return a[5].u ? futex_wake(t, at, n, a[5].u) : -EINVAL;
    case OP_CMP_REQUEUE:
        r = copy_from_guest(t, &now, at, sizeof now);
        if (r < 0 || now != a[5].u)
            return r < 0 ? r : -EAGAIN;
        return futex_requeue(t, at, n, a[3].i, other);
    case OP_REQUEUE:
        return futex_requeue(t, at, n, a[3].i, other);
    case OP_WAKE_OP:
        r = futex_apply(t, other, a[5].u);
        if (r < 0)
            return r;
        n = futex_wake(t, at, n, ANY_BIT);
        return n + (r ? futex_wake(t, other, a[3].i, ANY_BIT) : 0);
    default:
        return -ENOSYS;
    }
}

/* --- the end of a thread */

enum {
    ROBUST_MAX = 2048, /* locks in a list: it may be a ring */
    OWNER_DIED = 1 << 30,
    HAS_WAITERS = INT_MIN,
    TID_MASK = OWNER_DIED - 1,
};

/* The lock at `at` is marked if th holds it. */
static void
robust_mark(struct thread *th, gaddr at)
{
    struct task *t = th->owner;
    int32_t word;

    if (copy_from_guest(t, &word, at, sizeof word) < 0 ||
        (word & TID_MASK) != th->tid)
        return;
    word = (word & HAS_WAITERS) | OWNER_DIED;
    (void)copy_to_guest(t, at, &word, sizeof word);
    (void)futex_wake(t, at, 1, ANY_BIT);
}

/* Marks the robust locks that a thread holds at its end.
 *
 * Problem: a thread that dies with a lock would leave all others waiting.
 *
 * Idea: the thread keeps a list of its locks in its own memory. The kernel
 * walks it at the end, sets OWNER_DIED in each lock, and wakes one waiter,
 * which repairs the data. Between taking a lock and adding it to the list, the
 * lock is `list[2]`, which is handled last and in any case.
 *
 * It is right for any bytes in that memory. Every access is checked, and a lock
 * changes only if it contains the number of this thread. A ring ends after
 * ROBUST_MAX entries. The next entry is read before the lock is marked, because
 * a waiter may reuse the memory.
 *
 * struct robust_list_head: the first entry, the distance from an entry to its
 * lock, and the lock that is just being taken or released. */
static void
robust_exit(struct thread *th)
{
    struct task *t = th->owner;
    gaddr head = th->robust_list, entry;
    uint32_t list[3];

    th->robust_list = 0;
    if (!head || copy_from_guest(t, list, head, sizeof list) < 0)
        return;
    entry = list[0];
    for (int i = 0; i < ROBUST_MAX && entry != head; i++) {
        gaddr at = entry + list[1];
        if (copy_from_guest(t, &entry, entry, sizeof entry) < 0)
            break;
        if (at != list[2] + list[1])
            robust_mark(th, at);
    }
    if (list[2])
        robust_mark(th, list[2] + list[1]);
}

void
futex_on_exit(struct thread *th)
{
    struct task *t = th->owner;
    gaddr at = th->clear_tid;
    uint32_t zero = 0;

    if (!th->machine || !th->machine->base)
        return;
    robust_exit(th);
    th->clear_tid = 0;
    if (at && task_is_threaded(t)) {
        (void)copy_to_guest(t, at, &zero, sizeof zero);
        (void)futex_wake(t, at, 1, ANY_BIT);
    }
}

/* set_tid_address(addr): the thread of a vfork child keeps that of its owner.
 */
int64_t
sys_set_tid_address(struct task *t, const union sysarg *a)
{
    if (t->thread->owner != t)
        return t->pid;
    t->thread->clear_tid = a[0].addr;
    return t->thread->tid;
}

/* set_robust_list(head, size) */
int64_t
sys_set_robust_list(struct task *t, const union sysarg *a)
{
    if (a[1].u != 3 * sizeof(uint32_t))
        return -EINVAL;
    if (t->thread->owner == t)
        t->thread->robust_list = a[0].addr;
    return 0;
}

/* get_robust_list(tid, head, size) */
int64_t
sys_get_robust_list(struct task *t, const union sysarg *a)
{
    const uint32_t size = 3 * sizeof(uint32_t);
    struct thread *th = a[0].i ? thread_find(t, a[0].i) : t->thread;

    if (!th)
        return -ESRCH;
    int r = copy_to_guest(t, a[1].addr, &th->robust_list, sizeof(gaddr));
    return r < 0 ? r : copy_to_guest(t, a[2].addr, &size, sizeof size);
}

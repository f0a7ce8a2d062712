/* poll and select. Both check all files first, and add the thread to their
 * queues only if none is ready. */
#include "kernel/poll.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>

#define READ_EVENTS  (POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR)
#define WRITE_EVENTS (POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR)
#define OTHER_EVENTS POLLPRI

/* select checks no descriptor beyond the table, which on Linux has at least
 * this many entries. */
enum { FDS_SEEN_MIN = 64 };

int64_t
poll_deadline(const struct task *t, int64_t timeout_ns)
{
    if (timeout_ns < 0)
        return NS_NEVER;
    int64_t now = clock_mono_ns(&t->kernel->clock);
    return timeout_ns > NS_NEVER - now ? NS_NEVER : now + timeout_ns;
}

/* A timeout of 0 never waits, also where the clock stands still. */
bool
poll_is_over(struct task *t, int64_t deadline_ns)
{
    return deadline_ns <= clock_mono_ns(&t->kernel->clock) ||
           thread_deadline(t->thread, deadline_ns);
}

int64_t
poll_mask_end(struct task *t, int64_t r)
{
    struct signals *s = &t->sig;

    if (r == -EWAIT || !s->has_saved_mask)
        return r;
    s->has_saved_mask = false;
    signals_set_mask(t, s->saved_mask);
    return r;
}

/* --- poll */

static short
poll_one(struct task *t, const struct pollfd *p, struct poll_table *pt)
{
    if (p->fd < 0)
        return 0;
    struct file *f = fd_find(t, p->fd);
    if (!f)
        return POLLNVAL;
    return (short)(file_poll(f, pt) & (p->events | POLLERR | POLLHUP));
}

/* Checks all files; counts those with events, and stores the events. */
static int64_t
poll_all(struct task *t, uint8_t *fds, uint32_t n, struct poll_table *pt)
{
    int64_t found = 0;

    for (uint32_t i = 0; i < n; i++, fds += sizeof(struct pollfd)) {
        struct pollfd p;
        memcpy(&p, fds, sizeof p);
        p.revents = poll_one(t, &p, pt);
        found += p.revents != 0;
        memcpy(fds, &p, sizeof p);
    }
    return found;
}

int64_t
poll_wait_fds(struct task *t, gaddr at, uint32_t n, int64_t deadline_ns)
{
    struct thread_poll tp;

    if (n > t->rlimits[RLIMIT_NOFILE].cur)
        return -EINVAL;
    uint8_t *fds = guest_ptr(t, at, (uint64_t)n * sizeof(struct pollfd));
    if (!fds)
        return -EFAULT;
    int64_t found = poll_all(t, fds, n, NULL);
    if (found || poll_is_over(t, deadline_ns))
        return found;
    thread_poll_init(&tp, t->thread);
    (void)poll_all(t, fds, n, &tp.pt);
    return -EWAIT;
}

/* --- select */

struct fd_sets {
    uint8_t *set[3]; /* NULL: none */
    int32_t n;
};

static const short set_events[3] = {READ_EVENTS, WRITE_EVENTS, OTHER_EVENTS};

static bool
set_has(const struct fd_sets *s, int which, int32_t fd)
{
    const uint8_t *set = s->set[which];

    return set && set[fd / 8] & 1u << fd % 8;
}

/* Which of the three sets fd is in, as bits. */
static unsigned
sets_of(const struct fd_sets *s, int32_t fd)
{
    unsigned in = 0;

    for (int i = 0; i < 3; i++)
        in |= (unsigned)set_has(s, i, fd) << i;
    return in;
}

/* Checks fd; returns the bits of `in` whose events are present. */
static unsigned
select_one(struct task *t, int32_t fd, unsigned in, struct poll_table *pt)
{
    struct file *f = fd_find(t, fd);
    short events = f ? file_poll(f, pt) : 0;
    unsigned ready = 0;

    for (unsigned i = 0; i < 3; i++)
        if (in & 1u << i && events & set_events[i])
            ready |= 1u << i;
    return ready;
}

/* How many (fd, set) pairs are ready; -EBADF. */
static int64_t
select_count(struct task *t, const struct fd_sets *s, struct poll_table *pt)
{
    int64_t found = 0;

    for (int32_t fd = 0; fd < s->n; fd++) {
        unsigned in = sets_of(s, fd);
        if (!in)
            continue;
        if (!fd_find(t, fd))
            return -EBADF;
        found += __builtin_popcount(select_one(t, fd, in, pt));
    }
    return found;
}

/* Leaves only what is ready in the sets, whole words of them. */
static void
select_store(struct task *t, const struct fd_sets *s)
{
    for (int32_t fd = 0; fd < s->n; fd++) {
        unsigned in = sets_of(s, fd);
        unsigned gone = in & ~(in ? select_one(t, fd, in, NULL) : 0);
        for (int i = 0; gone; i++, gone >>= 1)
            if (gone & 1 && s->set[i])
                s->set[i][fd / 8] &= (uint8_t) ~(1u << fd % 8);
    }
}

int64_t
poll_wait_sets(struct task *t, int32_t n, const gaddr sets[3],
               int64_t deadline_ns)
{
    struct fd_sets s = {.n = n};
    struct thread_poll tp;

    if (n < 0)
        return -EINVAL;
    size_t cap = t->fds.cap < FDS_SEEN_MIN ? FDS_SEEN_MIN : t->fds.cap;
    if ((size_t)n > cap)
        s.n = (int32_t)cap;
    for (int i = 0; i < 3; i++) {
        s.set[i] = sets[i]
                       ? guest_ptr(t, sets[i], ((uint64_t)s.n + 31) / 32 * 4)
                       : NULL;
        if (sets[i] && !s.set[i])
            return -EFAULT;
    }
    int64_t found = select_count(t, &s, NULL);
    if (found < 0)
        return found;
    if (found || poll_is_over(t, deadline_ns)) {
        select_store(t, &s);
        return found;
    }
    thread_poll_init(&tp, t->thread);
    (void)select_count(t, &s, &tp.pt);
    return -EWAIT;
}

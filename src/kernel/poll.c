/* poll and select. Both check all files first, and add the thread to their
 * queues only if none is ready. */
#include "kernel/poll.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
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

/* A timeout of 0 never waits, also in a sandbox with a virtual clock, which
 * stands still while a process does not ask for the time. */
bool
poll_is_over(struct task *t, int64_t deadline_ns)
{
    return deadline_ns <= clock_mono_ns(&t->kernel->clock) ||
           thread_deadline(t->thread, deadline_ns);
}

/* A call that waits keeps the mask. If a handler ends the wait, the old mask is
 * restored after the handler, so that the signal can be delivered. */
int64_t
poll_mask_end(struct task *t, int64_t r)
{
    struct sigthread *s = task_sig(t);

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

/* Checks all descriptors of the array at `at`. Stores and counts their events.
 * -EFAULT. */
static int64_t
poll_all(struct task *t, gaddr at, uint32_t n, struct poll_table *pt)
{
    int64_t found = 0;

    for (uint32_t i = 0; i < n; i++, at += (gaddr)sizeof(struct pollfd)) {
        struct pollfd p;
        if (copy_from_guest(t, &p, at, sizeof p) < 0)
            return -EFAULT;
        p.revents = poll_one(t, &p, pt);
        found += p.revents != 0;
        (void)copy_to_guest(t, at + (gaddr)offsetof(struct pollfd, revents),
                            &p.revents, sizeof p.revents);
    }
    return found;
}

/* The first pass only asks. The second one adds the thread to all queues;
 * nothing else runs in between, so no event is missed. */
int64_t
poll_wait_fds(struct task *t, gaddr at, uint32_t n, int64_t deadline_ns)
{
    struct thread_poll tp;

    if (n > t->rlimits[RLIMIT_NOFILE].cur)
        return -EINVAL;
    if (guest_check(t, at, (uint64_t)n * sizeof(struct pollfd)) < 0)
        return -EFAULT;
    int64_t found = poll_all(t, at, n, NULL);
    if (found || poll_is_over(t, deadline_ns))
        return found;
    thread_poll_init(&tp, t->thread);
    (void)poll_all(t, at, n, &tp.pt);
    return -EWAIT;
}

/* --- select */

enum { SELECT_WORDS_SMALL = 32, SETS = 3 };

/* Copies of the three sets: a bit for each descriptor, in words of 32. */
struct fd_sets {
    uint32_t *set[SETS]; /* NULL: none */
    int32_t n;           /* descriptors */
    uint32_t small[SETS][SELECT_WORDS_SMALL];
};

static const short set_events[SETS] = {READ_EVENTS, WRITE_EVENTS, OTHER_EVENTS};

static size_t
sets_words(const struct fd_sets *s)
{
    return ((size_t)s->n + 31) / 32;
}

static void
sets_fini(struct fd_sets *s)
{
    for (int i = 0; i < SETS; i++)
        if (s->set[i] != s->small[i])
            free(s->set[i]);
}

static int
sets_from_guest(struct task *t, struct fd_sets *s, const gaddr at[SETS])
{
    size_t words = sets_words(s);
    int r = 0;

    for (int i = 0; i < SETS && r == 0; i++) {
        if (!at[i])
            continue;
        s->set[i] = words <= SELECT_WORDS_SMALL
                        ? s->small[i]
                        : malloc(words * sizeof *s->set[i]);
        r = s->set[i] ? copy_from_guest(t, s->set[i], at[i],
                                        words * sizeof *s->set[i])
                      : -ENOMEM;
    }
    return r;
}

static int
sets_to_guest(struct task *t, const struct fd_sets *s, const gaddr at[SETS])
{
    int r = 0;

    for (int i = 0; i < SETS && r == 0; i++)
        if (s->set[i])
            r = copy_to_guest(t, at[i], s->set[i],
                              sets_words(s) * sizeof *s->set[i]);
    return r;
}

/* Returns the sets that contain fd, as bits. */
static unsigned
sets_of(const struct fd_sets *s, int32_t fd)
{
    unsigned in = 0;

    for (int i = 0; i < SETS; i++)
        if (s->set[i] && s->set[i][fd / 32] & UINT32_C(1) << fd % 32)
            in |= 1u << i;
    return in;
}

/* Checks fd; returns the bits of `in` whose events are present. */
static unsigned
poll_select_one(struct task *t, int32_t fd, unsigned in, struct poll_table *pt)
{
    struct file *f = fd_find(t, fd);
    short events = f ? file_poll(f, pt) : 0;
    unsigned ready = 0;

    for (unsigned i = 0; i < SETS; i++)
        if (in & 1u << i && events & set_events[i])
            ready |= 1u << i;
    return ready;
}

/* Returns the number of ready (fd, set) pairs; -EBADF. */
static int64_t
poll_select_count(struct task *t, const struct fd_sets *s,
                  struct poll_table *pt)
{
    int64_t found = 0;

    for (int32_t fd = 0; fd < s->n; fd++) {
        unsigned in = sets_of(s, fd);
        if (!in)
            continue;
        if (!fd_find(t, fd))
            return -EBADF;
        found += __builtin_popcount(poll_select_one(t, fd, in, pt));
    }
    return found;
}

/* Removes the descriptors from the sets that are not ready. */
static void
poll_select_keep_ready(struct task *t, struct fd_sets *s)
{
    for (int32_t fd = 0; fd < s->n; fd++) {
        unsigned in = sets_of(s, fd);
        unsigned gone = in & ~(in ? poll_select_one(t, fd, in, NULL) : 0);
        for (int i = 0; gone; i++, gone >>= 1)
            if (gone & 1)
                s->set[i][fd / 32] &= ~(UINT32_C(1) << fd % 32);
    }
}

/* Results are written only if the call ends: a retry must find the original
 * sets. */
int64_t
poll_wait_sets(struct task *t, int32_t n, const gaddr sets[3],
               int64_t deadline_ns)
{
    CLEANUP(sets_fini) struct fd_sets s = {.n = n};
    struct thread_poll tp;

    if (n < 0)
        return -EINVAL;
    size_t cap = t->fds.cap < FDS_SEEN_MIN ? FDS_SEEN_MIN : t->fds.cap;
    if ((size_t)n > cap)
        s.n = (int32_t)cap;
    int r = sets_from_guest(t, &s, sets);
    if (r < 0)
        return r;
    int64_t found = poll_select_count(t, &s, NULL);
    if (found < 0)
        return found;
    if (found || poll_is_over(t, deadline_ns)) {
        poll_select_keep_ready(t, &s);
        r = sets_to_guest(t, &s, sets);
        return r < 0 ? r : found;
    }
    thread_poll_init(&tp, t->thread);
    (void)poll_select_count(t, &s, &tp.pt);
    return -EWAIT;
}

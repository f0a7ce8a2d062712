/* System calls that wait for files: poll, select, epoll. */
#include "kernel/abi.h"
#include "kernel/epoll.h"
#include "kernel/kernel.h"
#include "kernel/poll.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>

/* Reads the timeout at `at` (0: none) as a deadline. */
static int
sys_poll_get_deadline(struct task *t, gaddr at, int64_t *ret)
{
    int64_t timeout = -1;

    int r = at ? abi_get_time(t, at, &timeout) : 0;
    if (r == 0)
        *ret = poll_deadline(t, timeout);
    return r;
}

/* Sets the mask at `at`, if there is one, for this call. A size other than 8 is
 * an error. */
static int
sys_poll_set_mask(struct task *t, gaddr at, uint32_t size)
{
    uint64_t mask;

    if (!at)
        return 0;
    if (size != sizeof mask)
        return -EINVAL;
    int r = copy_from_guest(t, &mask, at, sizeof mask);
    if (r == 0)
        signals_swap_mask(t, mask);
    return r;
}

/* ppoll(fds, n, timeout, mask, size of mask) */
int64_t
sys_ppoll(struct task *t, const union sysarg *a)
{
    int64_t deadline = NS_NEVER;

    int r = sys_poll_get_deadline(t, a[2].addr, &deadline);
    if (r == 0)
        r = sys_poll_set_mask(t, a[3].addr, a[4].u);
    if (r < 0)
        return r;
    return poll_mask_end(t, poll_wait_fds(t, a[0].addr, a[1].u, deadline));
}

/* pselect6(n, readable, writable, exceptional, timeout, {mask, size}) */
int64_t
sys_pselect6(struct task *t, const union sysarg *a)
{
    const gaddr sets[3] = {a[1].addr, a[2].addr, a[3].addr};
    uint32_t mask[2] = {0, 0};
    int64_t deadline = NS_NEVER;

    int r = sys_poll_get_deadline(t, a[4].addr, &deadline);
    if (r == 0 && a[5].addr)
        r = copy_from_guest(t, mask, a[5].addr, sizeof mask);
    if (r == 0)
        r = sys_poll_set_mask(t, mask[0], mask[1]);
    if (r < 0)
        return r;
    return poll_mask_end(t, poll_wait_sets(t, a[0].i, sets, deadline));
}

/* --- epoll */

/* epoll_create1(flags) */
int64_t
sys_epoll_create1(struct task *t, const union sysarg *a)
{
    struct file *f;

    int r = epoll_new(t->kernel, &f);
    return r < 0 ? r : fd_install(t, f, 0, a[0].u & EPOLL_CLOEXEC);
}

/* epoll_ctl(epfd, operation, fd, event) */
int64_t
sys_epoll_ctl(struct task *t, const union sysarg *a)
{
    struct file *ep = fd_find(t, a[0].i), *f = fd_find(t, a[2].i);
    struct epoll_event_k ev = {0};

    if (a[1].i != EPOLL_CTL_DEL &&
        copy_from_guest(t, &ev, a[3].addr, sizeof ev) < 0)
        return -EFAULT;
    if (!ep || !f || (ep->flags | f->flags) & O_PATH)
        return -EBADF;
    switch (a[1].i) {
    case EPOLL_CTL_ADD:
        return epoll_add(ep, f, a[2].i, &ev);
    case EPOLL_CTL_MOD:
        return epoll_modify(ep, f, a[2].i, &ev);
    case EPOLL_CTL_DEL:
        return epoll_remove(ep, f, a[2].i);
    default:
        return -EINVAL;
    }
}

enum { EVENTS_SMALL = 16, EVENTS_MAX = 4096 };

/* Collects up to max events into guest memory. They are collected at once
 * and then copied: an event that is reported must not be collected a second
 * time. */
static int64_t
sys_poll_collect(struct task *t, struct file *ep, gaddr at, uint32_t max)
{
    struct epoll_event_k small[EVENTS_SMALL], *ev = small;

    if (max > EVENTS_SMALL) {
        max = max < EVENTS_MAX ? max : EVENTS_MAX;
        ev = malloc(max * sizeof *ev);
    }
    if (!ev)
        return -ENOMEM;
    size_t n = epoll_collect(ep, ev, max);
    int r = copy_to_guest(t, at, ev, n * sizeof *ev);
    if (ev != small)
        free(ev);
    return r < 0 ? r : (int64_t)n;
}

static int64_t
sys_poll_wait_events(struct task *t, struct file *ep, gaddr at, uint32_t max,
                     int64_t deadline)
{
    int64_t n = sys_poll_collect(t, ep, at, max);

    if (n || poll_is_over(t, deadline))
        return n;
    return thread_wait_file(t->thread, ep);
}

/* epoll_pwait(epfd, events, max, timeout_ms, mask, size of mask): the buffer is
 * checked before events are collected, because collecting consumes edges. */
int64_t
sys_epoll_pwait(struct task *t, const union sysarg *a)
{
    const uint32_t max = a[2].u;
    struct file *ep = fd_find(t, a[0].i);

    if (!max || max > INT32_MAX / sizeof(struct epoll_event_k))
        return -EINVAL;
    if (!ep)
        return -EBADF;
    if (guest_check(t, a[1].addr,
                    (uint64_t)max * sizeof(struct epoll_event_k)) < 0)
        return -EFAULT;
    if (!epoll_is(ep))
        return -EINVAL;
    int r = sys_poll_set_mask(t, a[4].addr, a[5].u);
    if (r < 0)
        return r;
    int64_t deadline = poll_deadline(t, a[3].i * NS_PER_MS);
    return poll_mask_end(t,
                         sys_poll_wait_events(t, ep, a[1].addr, max, deadline));
}

/* The poller: one thread that waits for all alarms of a runtime.
 *
 * Problem: thousands of sandboxes may have sleeping processes, each with a next
 * timer and host descriptors. A waiting thread for each would be too many.
 *
 * Idea: all timers are in one heap, and all descriptors in one ppoll. The
 * poller releases the lock while it sleeps, so alarms may change meanwhile. A
 * new earlier deadline or a new descriptor wakes it through an eventfd, and
 * ready descriptors are matched by number with the alarms that exist then. A
 * stale match only makes a sandbox check once more. */
#include "base/os_thread.h"
#include "base/own.h"
#include "host/native.h"
#include "lib/crew.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static void
poller_forget_fds(struct alarm *a)
{
    list_remove(&a->link);
    free(STEAL(a->fds));
    a->n_fds = 0;
}

/* An alarm rings once, for its time or its descriptors, whichever comes
 * first. */
static void
poller_alarm_rings(struct timer *timer)
{
    struct alarm *a = CONTAINER_OF(timer, struct alarm, timer);

    timer_stop(&a->crews->alarms, &a->timer);
    poller_forget_fds(a);
    crew_add_locked(&a->crews->background, a->work);
}

void
alarm_init(struct alarm *a, struct crews *p, struct crew_work *w)
{
    *a =
        (struct alarm){.crews = p, .work = w, .timer.fire = poller_alarm_rings};
    list_init(&a->link);
}

/* --- the thread */

/* Returns the descriptors of all alarms, after the poller's own. NULL: no
 * memory. */
static OWN struct pollfd *
poller_collect(const struct crews *p, size_t *ret_n)
{
    size_t n = 1;

    LIST_FOR_EACH(it, &p->watching)
        n += CONTAINER_OF(it, struct alarm, link)->n_fds;
    struct pollfd *v = calloc(n, sizeof *v);
    if (!v)
        return NULL;
    n = 0;
    v[n++] = (struct pollfd){.fd = p->poller_hfd, .events = POLLIN};
    LIST_FOR_EACH(it, &p->watching) {
        const struct alarm *a = CONTAINER_OF(it, struct alarm, link);
        memcpy(v + n, a->fds, a->n_fds * sizeof *v);
        n += a->n_fds;
    }
    *ret_n = n;
    return v;
}

static bool
poller_has_fd(const struct alarm *a, int hfd)
{
    for (size_t i = 0; i < a->n_fds; i++)
        if (a->fds[i].fd == hfd)
            return true;
    return false;
}

/* Alarms may have come and gone during the sleep, so they are found by the
 * number of the descriptor. */
static void
poller_ring_ready(struct crews *p, const struct pollfd *v, size_t n)
{
    uint64_t count;

    if (v[0].revents)
        (void)!read(p->poller_hfd, &count, sizeof count);
    for (size_t i = 1; i < n; i++) {
        if (!v[i].revents)
            continue;
        LIST_FOR_EACH_SAFE(it, &p->watching) {
            struct alarm *a = CONTAINER_OF(it, struct alarm, link);
            if (poller_has_fd(a, v[i].fd))
                poller_alarm_rings(&a->timer);
        }
    }
}

/* Sleeps until the next alarm. Without memory for the descriptors, it sleeps
 * for 10 ms and tries again. poller_until_ns shows others whether an earlier
 * deadline needs a wake-up. */
static void
poller_wait_once(struct crews *p)
{
    static const struct timespec patience = {.tv_nsec = 10 * NS_PER_MS};
    int64_t until = clock_next_ns(&p->alarms);
    int64_t ns = until - clock_mono_ns(&p->alarms);
    struct timespec ts = {0};
    size_t n = 0;

    if (ns > 0) {
        ts.tv_sec = ns / NS_PER_S;
        ts.tv_nsec = ns % NS_PER_S;
    }
    struct pollfd *v = poller_collect(p, &n);
    p->poller_until_ns = until;
    pthread_mutex_unlock(&p->lock);
    int ready = ppoll(v, n,
                      !v                  ? &patience
                      : until == NS_NEVER ? NULL
                                          : &ts,
                      NULL);
    pthread_mutex_lock(&p->lock);
    p->poller_until_ns = 0;
    if (v && ready > 0)
        poller_ring_ready(p, v, n);
    free(v);
}

/* The lock is held except while the poller sleeps. */
static void *
poller_main(void *arg)
{
    struct crews *p = arg;

    pthread_mutex_lock(&p->lock);
    while (!p->stops) {
        clock_fire(&p->alarms);
        poller_wait_once(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void
poller_wake(struct crews *p)
{
    uint64_t one = 1;

    (void)!write(p->poller_hfd, &one, sizeof one);
}

/* --- alarms */

/* Copies the descriptors into the alarm. Returns false if there is no
 * memory. */
static bool
poller_copy_fds(struct alarm *a, const struct pollfd *fds, size_t n)
{
    if (!n)
        return true;
    a->fds = malloc(n * sizeof *fds);
    if (!a->fds)
        return false;
    memcpy(a->fds, fds, n * sizeof *fds);
    a->n_fds = n;
    list_push_back(&a->crews->watching, &a->link);
    return true;
}

/* If the alarm cannot be set for lack of memory, its work is queued at once; it
 * will find out by itself that it has to wait. */
void
alarm_set(struct alarm *a, int64_t at_ns, const struct pollfd *fds, size_t n)
{
    struct crews *p = a->crews;
    int64_t at = at_ns == NS_NEVER ? NS_NEVER : at_ns - p->alarms.boot_ns;

    pthread_mutex_lock(&p->lock);
    poller_forget_fds(a);
    timer_stop(&p->alarms, &a->timer);
    if (!poller_copy_fds(a, fds, n) ||
        (at != NS_NEVER && timer_start(&p->alarms, &a->timer, at) < 0))
        crew_add_locked(&p->background, a->work); /* checks by itself */
    if (!p->has_poller)
        p->has_poller = os_thread_start(&p->poller, poller_main, p) == 0;
    else if (n || at < p->poller_until_ns)
        poller_wake(p);
    pthread_mutex_unlock(&p->lock);
}

void
alarm_stop(struct alarm *a)
{
    pthread_mutex_lock(&a->crews->lock);
    poller_forget_fds(a);
    timer_stop(&a->crews->alarms, &a->timer);
    pthread_mutex_unlock(&a->crews->lock);
}

int
poller_init(struct crews *p)
{
    list_init(&p->watching);
    clock_init(&p->alarms, &host_native, false, 0);
    p->poller_hfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return p->poller_hfd < 0 ? -errno : 0;
}

/* `stops` is set by crews_fini before; the wake-up makes the poller notice
 * it. */
void
poller_fini(struct crews *p)
{
    if (p->has_poller) {
        poller_wake(p);
        pthread_join(p->poller, NULL);
    }
    if (p->poller_hfd >= 0)
        close(p->poller_hfd);
    clock_fini(&p->alarms);
}

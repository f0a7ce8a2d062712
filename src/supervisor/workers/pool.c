/* The pool: workers are born before they are wanted.
 *
 * Until the first one has become ready, there is one birth at a time: it may
 * have to fill the cache of compiled code. After a failure, births pause, ever
 * longer. */
#include "supervisor/workers/worker_impl.h"

#include "supervisor/common/file.h"

#include "base/hfd.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    BIRTHS = 2,
    THREADS = 64,
    OUTPUT_BYTES = 1 << 20,
    EVENTS_MAX = 256, /* of one turn */
    RETRY_MIN_MS = 100,
    RETRY_MAX_MS = 10000,
    REFILL_MS = 10, /* who was taken goes first, as long as others are ready */
    LEFTOVER_MS = 20, /* between two looks at stale groups and strays */
    CLOSE_MS = 10000,
    /* What a worker takes beyond the memory and files of its guests: caches of
     * the allocators, requests and answers, page tables ... */
    OVERHEAD_MB = 64,
    /* ... and memory that the engine keeps for the next process of each slot.
     */
    KEPT_MB = 4,
    /* What its compiler takes: one process of 1 GiB at most, eight modules of
     * 16 MiB that wait, and 256 MiB of code. */
    COMPILER_MB = 1024 + 128 + 256,
    COMPILERS = 2, /* processes */
};

int
pool_watch(struct workers *p, int hfd, struct handle *h)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = h};

    return epoll_ctl(p->epoll_hfd, EPOLL_CTL_ADD, hfd, &e) < 0 ? -errno : 0;
}

void
pool_unwatch(struct workers *p, int hfd)
{
    (void)epoll_ctl(p->epoll_hfd, EPOLL_CTL_DEL, hfd, NULL);
}

/* --- the nursery */

/* The one that was ordered under this number, or any for 0. */
static struct inmate *
find_unborn(const struct workers *p, uint64_t id)
{
    LIST_FOR_EACH(it, &p->inmates) {
        struct inmate *m = CONTAINER_OF(it, struct inmate, link);
        if (m->worker.pid == 0 && !m->worker.has_ended && (!id || m->id == id))
            return m;
    }
    return NULL;
}

static bool
has_unborn(const struct list *pools)
{
    LIST_FOR_EACH(it, pools) {
        if (find_unborn(CONTAINER_OF(it, struct workers, link), 0))
            return true;
    }
    return false;
}

static bool
is_of(const struct workers *p, pid_t pid)
{
    LIST_FOR_EACH(it, &p->inmates) {
        if (CONTAINER_OF(it, struct inmate, link)->worker.pid == pid)
            return true;
    }
    return pid == p->nursery;
}

static bool
is_known(const struct list *pools, pid_t pid)
{
    LIST_FOR_EACH(it, pools) {
        if (is_of(CONTAINER_OF(it, struct workers, link), pid))
            return true;
    }
    return false;
}

static pid_t
find_stray(const struct list *pools)
{
    char path[64];
    int pid, found = 0;

    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    FILE *f = fopen(path, "re");
    while (f && !found && fscanf(f, "%d", &pid) == 1)
        found = is_known(pools, pid) ? 0 : pid;
    if (f)
        (void)fclose(f);
    return found;
}

/* Who was born when the nursery died, which had no time to tell: our children
 * all the same. While any pool awaits a birth, nobody can tell strays from
 * those of whom it is yet to hear. */
static void
reap_strays(struct workers *p)
{
    pid_t pid;

    if (!p->has_strays || has_unborn(p->config.pools))
        return;
    p->has_strays = false;
    while ((pid = find_stray(p->config.pools))) {
        (void)kill(pid, SIGKILL);
        if (waitpid(pid, NULL, __WALL) < 0)
            break;
    }
    cgroup_host_sweep(p->host); /* the groups that it had made for them */
}

static void
lose_nursery(struct workers *p)
{
    if (!p->nursery)
        return;
    pool_unwatch(p, p->nursery_hfd);
    hfd_closep(&p->nursery_hfd);
    (void)kill(p->nursery, SIGKILL);
    (void)waitpid(p->nursery, NULL, 0);
    p->nursery = 0;
    p->has_strays = true;
    struct birth_answer a = {.error = -ECHILD, .where = "nursery"};
    memset(a.hfd, 0xff, sizeof a.hfd);
    struct inmate *m;
    while ((m = find_unborn(p, 0)))
        inmate_arrive(m, &a);
}

static void
nursery_ready(struct handle *h)
{
    struct workers *p = CONTAINER_OF(h, struct workers, on_nursery);
    struct birth_answer a;

    int r = birth_take_answer(p->nursery_hfd, &a);
    if (r == -EAGAIN)
        return;
    struct inmate *m = r == 0 ? find_unborn(p, a.id) : NULL;
    if (m)
        inmate_arrive(m, &a);
    else if (r == 0)
        birth_drop_answer(&a);
    if (!m)
        lose_nursery(p);
}

static int
ensure_nursery(struct workers *p)
{
    if (p->nursery)
        return 0;
    int r = nursery_start(p->host, &p->nursery, &p->nursery_hfd);
    return r < 0 ? r : pool_watch(p, p->nursery_hfd, &p->on_nursery);
}

/* Consumes m unless it is ordered. */
static int
order(struct workers *p, OWN struct inmate *m, char *const *argv,
      char *const *envp, const char *const *read)
{
    struct birth_order o = {.id = m->id, .is_command = m->is_command};

    memcpy(o.limit, m->limit, sizeof o.limit);
    int r = ensure_nursery(p);
    if (r == 0)
        r = birth_send_order(p->nursery_hfd, &o, argv, envp, read);
    if (r < 0)
        inmate_free(m);
    else
        list_push_back(&p->inmates, &m->link);
    return r;
}

/* --- births of workers */

void
pool_note_failure(struct workers *p, const char *why)
{
    int64_t ms = RETRY_MIN_MS;

    for (uint32_t i = 0; i < p->failures && ms < RETRY_MAX_MS; i++)
        ms *= 2;
    p->failures++;
    p->retry_ns =
        time_mono_ns() + (ms < RETRY_MAX_MS ? ms : RETRY_MAX_MS) * NS_PER_MS;
    p->config.events->failed(p->config.arg, why);
}

static int
begin_birth(struct workers *p)
{
    struct inmate *m = inmate_new(p, false, WORDS_BYTES);

    if (!m)
        return -ENOMEM;
    int r = order(p, m, p->config.argv, p->config.envp, NULL);
    if (r == 0)
        p->n_starting++;
    return r;
}

static void
fill(struct workers *p)
{
    uint32_t most = p->had_success ? p->config.births : 1;
    uint32_t wanted = p->config.idle ? p->config.idle : p->is_wanted;
    char why[WORKER_WHY_BYTES];

    if (p->refill_ns && p->n_ready)
        return;
    while (!p->retry_ns && p->n_starting < most &&
           p->n_ready + p->n_starting < wanted) {
        int r = begin_birth(p);
        if (r == -EAGAIN)
            return;
        if (r < 0) {
            (void)snprintf(why, sizeof why, "nursery: %s", strerrordesc_np(-r));
            pool_note_failure(p, why);
        }
    }
}

/* --- time */

static void
remove_stale(struct workers *p)
{
    LIST_FOR_EACH_SAFE(it, &p->stale) {
        struct stale *s = CONTAINER_OF(it, struct stale, link);
        if (cgroup_try_fini(&s->group) == -EBUSY)
            continue;
        list_remove(&s->link);
        free(s);
    }
}

static void
earlier(int64_t *at, int64_t other)
{
    if (other && (!*at || other < *at))
        *at = other;
}

/* Looks at what is due; when there is more to look at. */
static int64_t
look(struct workers *p, int64_t now)
{
    int64_t next = 0;

    LIST_FOR_EACH_SAFE(it, &p->inmates) {
        struct inmate *m = CONTAINER_OF(it, struct inmate, link);
        if (m->worker.has_ended)
            continue;
        if (m->at_ns && m->at_ns <= now)
            inmate_look(m, now);
        earlier(&next, m->at_ns);
    }
    return next;
}

static void
set_timer(struct workers *p)
{
    int64_t now = time_mono_ns();

    if (p->retry_ns && p->retry_ns <= now)
        p->retry_ns = 0;
    if (p->refill_ns && p->refill_ns <= now)
        p->refill_ns = 0;
    remove_stale(p);
    reap_strays(p);
    fill(p);
    int64_t next = look(p, now);
    earlier(&next, p->retry_ns);
    earlier(&next, p->refill_ns);
    if (!list_is_empty(&p->stale) || p->has_strays)
        earlier(&next, now + (int64_t)LEFTOVER_MS * NS_PER_MS);
    const struct itimerspec at = {.it_value = time_spec(next)};
    (void)timerfd_settime(p->timer_hfd, TFD_TIMER_ABSTIME, &at, NULL);
}

/* Has set_timer called, by the next workers_turn: what it leads to may be the
 * end of whoever is at work now. */
static void
wake(const struct workers *p)
{
    const struct itimerspec now = {.it_value.tv_nsec = 1};

    (void)timerfd_settime(p->timer_hfd, 0, &now, NULL);
}

static void
timer_ready(struct handle *h)
{
    const struct workers *p = CONTAINER_OF(h, struct workers, on_timer);
    uint64_t n;

    (void)!read(p->timer_hfd, &n, sizeof n);
}

/* One event at a time: what it leads to may make others void. */
void
workers_turn(struct workers *p)
{
    struct epoll_event e;

    for (int i = 0; i < EVENTS_MAX && epoll_wait(p->epoll_hfd, &e, 1, 0) == 1;
         i++) {
        struct handle *h = e.data.ptr;
        h->ready(h);
    }
    set_timer(p);
}

/* --- life of the pool */

static int
pool_init(struct workers *p)
{
    list_init(&p->inmates);
    list_init(&p->stale);
    p->on_timer.ready = timer_ready;
    p->on_nursery.ready = nursery_ready;
    p->epoll_hfd = epoll_create1(EPOLL_CLOEXEC);
    p->timer_hfd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (p->epoll_hfd < 0 || p->timer_hfd < 0)
        return -errno;
    int r = pool_watch(p, p->timer_hfd, &p->on_timer);
    return r < 0 ? r : ensure_nursery(p);
}

int
workers_new(const struct workers_config *c, const struct cgroup_host *h,
            OWN struct workers **ret)
{
    struct workers *p = calloc(1, sizeof *p);

    if (!p)
        return -ENOMEM;
    *p = (struct workers){.config = *c,
                          .host = h,
                          .epoll_hfd = -1,
                          .timer_hfd = -1,
                          .nursery_hfd = -1,
                          .next_id = 1};
    list_push_back(c->pools, &p->link);
    if (!p->config.births)
        p->config.births = BIRTHS;
    if (!p->config.threads)
        p->config.threads = THREADS;
    int r = pool_init(p);
    if (r < 0) {
        workers_free(p);
        return r;
    }
    wake(p);
    *ret = p;
    return 0;
}

/* Without events. */
static void
drop(struct inmate *m)
{
    m->state = INMATE_DOOMED;
    worker_kill(&m->worker);
    if (m->worker.pid > 0)
        (void)waitpid(m->worker.pid, NULL, 0);
    inmate_free(m);
}

/* What it is at comes to its end first, so that nothing is left of it. */
static void
close_nursery(struct workers *p)
{
    struct pollfd fd = {.fd = p->nursery_hfd, .events = POLLIN};
    struct birth_answer a;

    if (!p->nursery)
        return;
    (void)shutdown(p->nursery_hfd, SHUT_WR);
    while (poll(&fd, 1, CLOSE_MS) == 1 &&
           birth_take_answer(p->nursery_hfd, &a) == 0) {
        struct inmate *m = find_unborn(p, a.id);
        if (m)
            inmate_take_over(m, &a);
        else
            birth_drop_answer(&a);
    }
    (void)kill(p->nursery, SIGKILL);
    (void)waitpid(p->nursery, NULL, 0);
}

void
workers_free(OWN struct workers *p)
{
    if (!p)
        return;
    close_nursery(p);
    while (!list_is_empty(&p->inmates))
        drop(CONTAINER_OF(p->inmates.next, struct inmate, link));
    while (!list_is_empty(&p->stale)) {
        struct stale *s = CONTAINER_OF(p->stale.next, struct stale, link);
        cgroup_fini(&s->group);
        list_remove(&s->link);
        free(s);
    }
    hfd_closep(&p->nursery_hfd);
    hfd_closep(&p->timer_hfd);
    hfd_closep(&p->epoll_hfd);
    list_remove(&p->link);
    free(p);
}

int
workers_hfd(const struct workers *p)
{
    return p->epoll_hfd;
}

uint32_t
workers_ready(const struct workers *p)
{
    return p->n_ready;
}

uint32_t
workers_starting(const struct workers *p)
{
    return p->n_starting;
}

/* --- taking */

static int
set_rlimit(pid_t pid, __rlimit_resource_t what, uint64_t value)
{
    const struct rlimit limit = {value, value};

    return prlimit(pid, what, &limit, NULL) < 0 ? -errno : 0;
}

/* The wall around it: what its guests may use, and what it uses and may use
 * itself. The kernel's; or else ours, as its limits count what is mapped:
 * stacks that were never used, and memory that guests gave back. */
static int
set_limits(struct inmate *m, const uint32_t *limit)
{
    const struct workers *p = m->pool;
    uint64_t used = 0;
    uint64_t ends = limit_files(limit[LIMIT_disk]) * RECORD_BLOCK_BYTES;
    uint64_t mb = limit[LIMIT_memory] + limit[LIMIT_disk] + (ends >> 20) +
                  OVERHEAD_MB + (uint64_t)limit[LIMIT_processes] * KEPT_MB;
    uint64_t beside_mb = p->config.compiles ? COMPILER_MB : 0;

    memcpy(m->limit, limit, sizeof m->limit);
    (void)cgroup_memory(&m->group, &used);
    const struct cgroup_limits l = {
        ((mb + beside_mb) << 20) + used, limit[LIMIT_cpu],
        p->config.threads + (p->config.compiles ? COMPILERS : 0)};
    int r = cgroup_limit(&m->group, &l);
    if (r == 0)
        r = set_rlimit(m->worker.pid, RLIMIT_NPROC, p->config.threads);
    if (r == 0 && p->host->of[CTL_memory] < 0) {
        m->memory_wall = (mb << 20) + inmate_memory(m);
        m->at_ns = time_mono_ns();
    }
    return r;
}

static struct inmate *
find_ready(const struct workers *p)
{
    LIST_FOR_EACH(it, &p->inmates) {
        struct inmate *m = CONTAINER_OF(it, struct inmate, link);
        if (m->state == INMATE_READY)
            return m;
    }
    return NULL;
}

int
workers_take(struct workers *p, const uint32_t *limit, OWN struct worker **ret)
{
    struct inmate *m = find_ready(p);

    p->is_wanted = !m;
    wake(p);
    if (!m)
        return -EAGAIN;
    p->n_ready--;
    if (!p->refill_ns)
        p->refill_ns = time_mono_ns() + (int64_t)REFILL_MS * NS_PER_MS;
    int r = set_limits(m, limit);
    if (r < 0)
        inmate_doom(m);
    else
        m->state = INMATE_TAKEN;
    if (r == 0)
        *ret = &m->worker;
    return r;
}

void
workers_forget_want(struct workers *p)
{
    p->is_wanted = false;
}

int
workers_run(struct workers *p, const struct worker_command *c,
            OWN struct worker **ret)
{
    struct inmate *m =
        inmate_new(p, true, c->output_bytes ? c->output_bytes : OUTPUT_BYTES);

    if (!m)
        return -ENOMEM;
    memcpy(m->limit, c->limit, sizeof m->limit);
    m->state = INMATE_TAKEN;
    int r = order(p, m, c->argv, NULL, c->read);
    if (r == 0)
        *ret = &m->worker;
    return r;
}

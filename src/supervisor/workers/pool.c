/* The pool: workers are started before sessions want them.
 *
 * Starting a worker takes much longer than creating a session in it: the worker
 * maps the compiled code of all programs and seals itself.
 *
 * Until the first worker is ready, one at a time is started: it may have to
 * fill the cache of compiled code. After a failure, starts pause with an
 * exponential back-off. */
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    STARTS_MAX = 2,
    THREADS = 64,
    OUTPUT_BYTES = 1 << 20,
    RETRY_MIN_MS = 100,
    RETRY_MAX_MS = 10000,
    REFILL_MS = 10,   /* delay, so that a new session runs first, if others are
                       * ready */
    LEFTOVER_MS = 20, /* between two checks of stale groups and strays */
    CLOSE_MS = 10000,
    /* Use of a worker beyond the memory and files of its guests: caches of the
     * allocators, requests and answers, page tables ... */
    OVERHEAD_MB = 64,
    /* ... and memory that the engine keeps for the next process of each slot.
     */
    KEPT_MB = 4,
    /* Use of its compiler: one process of at most 1 GiB, eight waiting modules
     * of 16 MiB, and 256 MiB of code. */
    COMPILER_MB = 1024 + 128 + 256,
    COMPILERS = 2, /* processes */
};

int
pool_watch(struct pool *p, int hfd, struct source *s)
{
    return reactor_add(p->config.reactor, s, hfd, EPOLLIN);
}

void
pool_unwatch(struct pool *p, struct source *s)
{
    reactor_remove(p->config.reactor, s);
}

void
pool_wake(struct pool *p)
{
    reactor_set_timer(p->config.reactor, &p->tick, time_mono_ns());
}

/* --- the spawner */

/* Finds the process that was ordered under this number and has not started, or
 * any such process for 0. */
static struct worker_process *
pool_find_ordered(const struct pool *p, uint64_t id)
{
    LIST_FOR_EACH(it, &p->processes) {
        struct worker_process *m =
            CONTAINER_OF(it, struct worker_process, link);
        if (m->worker.pid == 0 && !m->worker.has_ended && (!id || m->id == id))
            return m;
    }
    return NULL;
}

static bool
pool_has_ordered(const struct list *pools)
{
    LIST_FOR_EACH(it, pools) {
        if (pool_find_ordered(CONTAINER_OF(it, struct pool, link), 0))
            return true;
    }
    return false;
}

static bool
pool_is_of(const struct pool *p, pid_t pid)
{
    LIST_FOR_EACH(it, &p->processes) {
        if (CONTAINER_OF(it, struct worker_process, link)->worker.pid == pid)
            return true;
    }
    return pid == p->spawner;
}

/* True if a pool of ours knows the child. */
static bool
pool_is_known(const struct list *pools, pid_t pid)
{
    LIST_FOR_EACH(it, pools) {
        if (pool_is_of(CONTAINER_OF(it, struct pool, link), pid))
            return true;
    }
    return false;
}

/* Returns a child of ours that no pool knows, or 0. */
static pid_t
pool_find_stray(const struct list *pools)
{
    char path[64];
    int pid, found = 0;

    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    FILE *f = fopen(path, "re");
    while (f && !found && fscanf(f, "%d", &pid) == 1)
        found = pool_is_known(pools, pid) ? 0 : pid;
    if (f)
        (void)fclose(f);
    return found;
}

/* Kills children that the spawner started but did not report.
 *
 * Problem: if the spawner crashes after clone() but before it reports the pid,
 * the child is ours (CLONE_PARENT) but unknown. It would stay for ever.
 *
 * Idea: every unknown child of ours is such a stray. However, between an order
 * and its answer a child is unknown too, although it is about to be reported.
 * Strays are therefore killed only when no pool waits for an answer. */
static void
pool_reap_strays(struct pool *p)
{
    pid_t pid;

    if (!p->has_strays || pool_has_ordered(p->config.pools))
        return;
    p->has_strays = false;
    while ((pid = pool_find_stray(p->config.pools))) {
        (void)kill(pid, SIGKILL);
        if (waitpid(pid, NULL, __WALL) < 0)
            break;
    }
    cgroup_host_sweep(p->host); /* the groups that it had made for them */
}

/* The spawner has died or sent nonsense. All open orders fail, and a new
 * spawner is started with the next one. */
static void
pool_lose_spawner(struct pool *p)
{
    if (!p->spawner)
        return;
    pool_unwatch(p, &p->on_spawner);
    hfd_closep(&p->spawner_hfd);
    (void)kill(p->spawner, SIGKILL);
    (void)waitpid(p->spawner, NULL, 0);
    p->spawner = 0;
    p->has_strays = true;
    struct spawn_answer a = {.error = -ECHILD, .where = "spawner"};
    memset(a.hfd, 0xff, sizeof a.hfd);
    struct worker_process *m;
    while ((m = pool_find_ordered(p, 0)))
        worker_process_arrive(m, &a);
}

/* An answer without an order means that the spawner is confused; it is
 * replaced. */
static void
pool_spawner_ready(struct source *s, uint32_t events)
{
    struct pool *p = CONTAINER_OF(s, struct pool, on_spawner);
    struct spawn_answer a;

    (void)events;
    pool_wake(p);
    int r = spawn_take_answer(p->spawner_hfd, &a);
    if (r == -EAGAIN)
        return;
    struct worker_process *m = r == 0 ? pool_find_ordered(p, a.id) : NULL;
    if (m)
        worker_process_arrive(m, &a);
    else if (r == 0)
        spawn_drop_answer(&a);
    if (!m)
        pool_lose_spawner(p);
}

static int
pool_ensure_spawner(struct pool *p)
{
    if (p->spawner)
        return 0;
    int r = spawner_start(p->host, &p->spawner, &p->spawner_hfd);
    return r < 0 ? r : pool_watch(p, p->spawner_hfd, &p->on_spawner);
}

/* Consumes m unless it is ordered. */
static int
pool_order(struct pool *p, OWN struct worker_process *m, char *const *argv,
           char *const *envp, const char *const *read)
{
    struct spawn_order o = {.id = m->id, .is_command = m->is_command};

    memcpy(o.limit, m->limit, sizeof o.limit);
    int r = pool_ensure_spawner(p);
    if (r == 0)
        r = spawn_send_order(p->spawner_hfd, &o, argv, envp, read);
    if (r < 0)
        worker_process_free(m);
    else
        list_push_back(&p->processes, &m->link);
    return r;
}

/* --- starting workers */

/* Doubles the pause after each failure, up to ten seconds. */
void
pool_count_failure(struct pool *p, const char *why)
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
pool_begin_start(struct pool *p)
{
    struct worker_process *m = worker_process_new(p, false, WORDS_BYTES);

    if (!m)
        return -ENOMEM;
    int r = pool_order(p, m, p->config.argv, p->config.envp, NULL);
    if (r == 0)
        p->n_starting++;
    return r;
}

/* Returns the number of workers that should be ready: one at least while a
 * caller waits for it. */
static uint32_t
pool_wanted(const struct pool *p)
{
    return p->config.idle ? p->config.idle : p->is_wanted;
}

/* Starts workers until enough are ready. Right after one was given to a
 * session, refilling waits for a moment: the session should have the processor
 * first. */
static void
pool_fill(struct pool *p)
{
    uint32_t most = p->had_success ? p->config.starts : 1;
    uint32_t wanted = pool_wanted(p);
    char why[WORKER_WHY_BYTES];

    if (p->refill_ns && p->n_ready)
        return;
    while (!p->retry_ns && p->n_starting < most &&
           p->n_ready + p->n_starting < wanted) {
        int r = pool_begin_start(p);
        if (r == -EAGAIN)
            return;
        if (r < 0) {
            (void)snprintf(why, sizeof why, "spawner: %s", strerrordesc_np(-r));
            pool_count_failure(p, why);
        }
    }
}

/* Finds the worker that has been ready for the longest time. */
static struct worker_process *
pool_find_ready(const struct pool *p)
{
    LIST_FOR_EACH(it, &p->processes) {
        struct worker_process *m =
            CONTAINER_OF(it, struct worker_process, link);
        if (m->state == PROCESS_READY)
            return m;
    }
    return NULL;
}

/* Ends workers that are ready beyond the number that was set, and those that
 * become ready later. */
static void
pool_shrink(struct pool *p)
{
    while (p->is_shrinking && p->n_ready > pool_wanted(p)) {
        p->n_ready--;
        worker_process_kill(pool_find_ready(p));
    }
    if (p->n_ready + p->n_starting <= pool_wanted(p))
        p->is_shrinking = false;
}

/* --- time */

/* A group whose processes were still dying when it should be removed is tried
 * again. */
static void
pool_remove_stale(struct pool *p)
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
pool_earlier(int64_t *at, int64_t other)
{
    if (other && (!*at || other < *at))
        *at = other;
}

/* Checks the processes that are due. Returns when the next one is, or 0. */
static int64_t
pool_check_processes(struct pool *p, int64_t now)
{
    int64_t next = 0;

    LIST_FOR_EACH_SAFE(it, &p->processes) {
        struct worker_process *m =
            CONTAINER_OF(it, struct worker_process, link);
        if (m->worker.has_ended)
            continue;
        if (m->at_ns && m->at_ns <= now)
            worker_process_check(m, now);
        pool_earlier(&next, m->at_ns);
    }
    return next;
}

static void
pool_end_pauses(struct pool *p, int64_t now)
{
    if (p->retry_ns && p->retry_ns <= now)
        p->retry_ns = 0;
    if (p->refill_ns && p->refill_ns <= now)
        p->refill_ns = 0;
}

static void
pool_set_timer(struct pool *p, int64_t now, int64_t next)
{
    pool_earlier(&next, p->retry_ns);
    pool_earlier(&next, p->refill_ns);
    if (!list_is_empty(&p->stale) || p->has_strays)
        pool_earlier(&next, now + (int64_t)LEFTOVER_MS * NS_PER_MS);
    reactor_set_timer(p->config.reactor, &p->tick, next);
}

/* Everything that the pool does by the clock. Each job is cheap when nothing
 * is due, so one timer for the earliest of them is enough. */
static void
pool_tick(struct reactor_timer *t)
{
    struct pool *p = CONTAINER_OF(t, struct pool, tick);
    int64_t now = time_mono_ns();

    pool_end_pauses(p, now);
    pool_remove_stale(p);
    pool_reap_strays(p);
    pool_shrink(p);
    pool_fill(p);
    pool_set_timer(p, now, pool_check_processes(p, now));
}

/* --- making and freeing the pool */

int
pool_new(const struct pool_config *c, const struct cgroup_host *h,
         OWN struct pool **ret)
{
    struct pool *p = calloc(1, sizeof *p);

    if (!p)
        return -ENOMEM;
    *p = (struct pool){.config = *c,
                       .host = h,
                       .tick.fire = pool_tick,
                       .on_spawner = {.hfd = -1, .ready = pool_spawner_ready},
                       .spawner_hfd = -1,
                       .next_id = 1};
    list_init(&p->processes);
    list_init(&p->stale);
    list_push_back(c->pools, &p->link);
    if (!p->config.starts)
        p->config.starts = STARTS_MAX;
    if (!p->config.threads)
        p->config.threads = THREADS;
    int r = pool_ensure_spawner(p);
    if (r < 0) {
        pool_free(p);
        return r;
    }
    pool_wake(p);
    *ret = p;
    return 0;
}

/* Removes a process without events, at the end of the pool. */
static void
pool_drop(struct worker_process *m)
{
    m->state = PROCESS_KILLED;
    worker_kill(&m->worker);
    if (m->worker.pid > 0)
        (void)waitpid(m->worker.pid, NULL, 0);
    worker_process_free(m);
}

/* Lets the spawner finish its current request before shutting it down, so that
 * no half-created worker or cgroup is leaked. */
static void
pool_close_spawner(struct pool *p)
{
    struct pollfd fd = {.fd = p->spawner_hfd, .events = POLLIN};
    struct spawn_answer a;

    if (!p->spawner)
        return;
    (void)shutdown(p->spawner_hfd, SHUT_WR);
    while (poll(&fd, 1, CLOSE_MS) == 1 &&
           spawn_take_answer(p->spawner_hfd, &a) == 0) {
        struct worker_process *m = pool_find_ordered(p, a.id);
        if (m)
            worker_process_take_over(m, &a);
        else
            spawn_drop_answer(&a);
    }
    (void)kill(p->spawner, SIGKILL);
    (void)waitpid(p->spawner, NULL, 0);
}

/* The spawner is closed first, so that no further process appears while those
 * of the pool are killed and reaped. */
void
pool_free(OWN struct pool *p)
{
    if (!p)
        return;
    pool_close_spawner(p);
    while (!list_is_empty(&p->processes))
        pool_drop(CONTAINER_OF(p->processes.next, struct worker_process, link));
    while (!list_is_empty(&p->stale)) {
        struct stale *s = CONTAINER_OF(p->stale.next, struct stale, link);
        cgroup_fini(&s->group);
        list_remove(&s->link);
        free(s);
    }
    reactor_set_timer(p->config.reactor, &p->tick, 0);
    pool_unwatch(p, &p->on_spawner);
    hfd_closep(&p->spawner_hfd);
    list_remove(&p->link);
    free(p);
}

void
pool_set_idle(struct pool *p, uint32_t idle)
{
    if (p->config.idle == idle)
        return;
    p->config.idle = idle;
    p->is_shrinking = true;
    pool_wake(p);
}

uint32_t
pool_ready(const struct pool *p)
{
    return p->n_ready;
}

uint32_t
pool_starting(const struct pool *p)
{
    return p->n_starting;
}

/* --- taking */

static int
pool_set_rlimit(pid_t pid, __rlimit_resource_t what, uint64_t value)
{
    const struct rlimit limit = {value, value};

    return prlimit(pid, what, &limit, NULL) < 0 ? -errno : 0;
}

/* Sets the memory limit of a worker: the limits of its guests, plus its own
 * use. The kernel enforces it if there is a memory controller. Otherwise the
 * pool does, because rlimits count mapped memory: stacks that were never used,
 * and memory that guests gave back. */
static int
pool_set_limits(struct worker_process *m, const uint32_t *limit)
{
    const struct pool *p = m->pool;
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
        r = pool_set_rlimit(m->worker.pid, RLIMIT_NPROC, p->config.threads);
    if (r == 0 && p->host->of[CTL_memory] < 0) {
        m->memory_wall = (mb << 20) + worker_process_memory(m);
        m->at_ns = time_mono_ns();
    }
    return r;
}

/* The limits are set when the worker is assigned, because each session has its
 * own. A worker whose limits cannot be set is killed, not used. */
int
pool_take(struct pool *p, const uint32_t *limit, OWN struct worker **ret)
{
    struct worker_process *m = pool_find_ready(p);

    p->is_wanted = !m;
    pool_wake(p);
    if (!m)
        return -EAGAIN;
    p->n_ready--;
    if (!p->refill_ns)
        p->refill_ns = time_mono_ns() + (int64_t)REFILL_MS * NS_PER_MS;
    int r = pool_set_limits(m, limit);
    if (r < 0)
        worker_process_kill(m);
    else
        m->state = PROCESS_TAKEN;
    if (r == 0)
        *ret = &m->worker;
    return r;
}

void
pool_forget_want(struct pool *p)
{
    p->is_wanted = false;
}

/* A native command has no ready state: it belongs to its caller from the
 * start. */
int
pool_run(struct pool *p, const struct worker_command *c,
         OWN struct worker **ret)
{
    struct worker_process *m = worker_process_new(
        p, true, c->output_bytes ? c->output_bytes : OUTPUT_BYTES);

    if (!m)
        return -ENOMEM;
    memcpy(m->limit, c->limit, sizeof m->limit);
    m->state = PROCESS_TAKEN;
    int r = pool_order(p, m, c->argv, NULL, c->read);
    if (r == 0)
        *ret = &m->worker;
    return r;
}

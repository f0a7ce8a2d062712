/* One worker process: from its start to its end.
 *
 *   ordered -> starting -> ready -> in use -> (ended, reaped)
 *       any of the first three -> killed -> removed by the pool
 *
 * A process that a session uses reports its end, and its user reaps it. All
 * others belong to the pool, which reaps them itself. */
#include "supervisor/workers/worker_impl.h"

#include "supervisor/common/file.h"

#include "base/hfd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_S = 60, FIRST_START_S = 900, WHY_BYTES = 512 };

static const char ready_line[] = "worker.ready";

/* All descriptors are -1 at first, so that worker_process_free accepts a
 * process that was never started. */
OWN struct worker_process *
worker_process_new(struct pool *p, bool is_command, size_t ring_bytes)
{
    struct worker_process *m = calloc(1, sizeof *m);

    if (!m || ring_init(&m->words, ring_bytes) < 0) {
        free(m);
        return NULL;
    }
    m->worker = (struct worker){
        .pid_hfd = -1, .rpc_hfd = -1, .state_hfd = -1, .network_hfd = -1};
    m->jail = (struct jail){.pid = -1,
                            .pid_hfd = -1,
                            .message_hfd = -1,
                            .go_hfd = -1,
                            .disk_hfd = -1,
                            .proc_hfd = -1};
    m->group.host = p->host;
    for (int i = 0; i < HIERARCHIES_MAX; i++)
        m->group.dir_hfd[i] = -1;
    m->words_hfd = -1;
    m->on_pid.hfd = m->on_rpc.hfd = m->on_words.hfd = m->on_message.hfd = -1;
    m->pool = p;
    m->is_command = is_command;
    m->id = p->next_id++;
    list_init(&m->link);
    return m;
}

/* A group is busy until its last process is gone. Waiting here would block the
 * event loop, so the pool removes it later. */
static void
worker_process_remove_group(struct pool *p, struct cgroup *g)
{
    struct stale *s = cgroup_try_fini(g) == -EBUSY ? malloc(sizeof *s) : NULL;

    if (s) {
        s->group = *g;
        list_push_back(&p->stale, &s->link);
    } else {
        cgroup_fini(g);
    }
}

/* The pidfd belongs to `worker`, and `jail` only borrows it. */
void
worker_process_free(OWN struct worker_process *m)
{
    struct pool *p = m->pool;

    list_remove(&m->link);
    pool_unwatch(p, &m->on_pid);
    pool_unwatch(p, &m->on_rpc);
    pool_unwatch(p, &m->on_words);
    pool_unwatch(p, &m->on_message);
    hfd_closep(&m->worker.pid_hfd);
    hfd_closep(&m->worker.rpc_hfd);
    hfd_closep(&m->worker.state_hfd);
    hfd_closep(&m->worker.network_hfd);
    hfd_closep(&m->words_hfd);
    m->jail.pid_hfd = -1;
    jail_forget(&m->jail);
    worker_process_remove_group(p, &m->group);
    ring_fini(&m->words);
    free(m);
}

/* --- its last words, or a command's output */

/* Reads everything that is left, at the end of the process. */
static void
process_take_words(struct worker_process *m)
{
    int64_t n = 1;

    while (n > 0 && m->words_hfd >= 0)
        n = ring_fill(&m->words, m->words_hfd);
    if (n == -EAGAIN || m->words_hfd < 0)
        return;
    pool_unwatch(m->pool, &m->on_words);
    hfd_closep(&m->words_hfd);
}

/* Reads one piece at a time, so that a process that writes constantly does not
 * starve others. */
static void
worker_process_words_ready(struct source *s, uint32_t events)
{
    struct worker_process *m = CONTAINER_OF(s, struct worker_process, on_words);
    const struct pool *p = m->pool;

    (void)events;
    pool_wake(m->pool);
    if (ring_fill(&m->words, m->words_hfd) == 0)
        process_take_words(m);
    if (m->is_command && m->state == PROCESS_TAKEN && p->config.events->output)
        p->config.events->output(p->config.arg, &m->worker);
}

/* --- its end */

/* WNOWAIT leaves the process to be reaped later, with its resource usage. */
static bool
process_has_died(const struct worker_process *m)
{
    siginfo_t info = {0};

    return m->worker.pid > 0 &&
           !waitid(P_PID, (id_t)m->worker.pid, &info,
                   WEXITED | WNOHANG | WNOWAIT) &&
           info.si_pid;
}

/* Describes why a worker of the pool ended, with its last words. */
static void
process_print_why(const struct worker_process *m, char *why, size_t size)
{
    const struct ending *e = &m->ending;
    char words[192];
    uint64_t end = m->words.end, at;

    if (e->start_error) {
        (void)snprintf(why, size, "%s: %s", e->where,
                       strerrordesc_np(e->start_error));
        return;
    }
    size_t n =
        ring_copy(&m->words, end < sizeof words ? 0 : end - sizeof words + 1,
                  words, sizeof words - 1, &at);
    while (n && words[n - 1] == '\n')
        n--;
    words[n] = 0;
    (void)snprintf(why, size, "%s %s%s%s", ending_cause(e),
                   m->state == PROCESS_READY ? "while it was idle"
                                             : "before it was ready",
                   n ? ": " : "", words);
}

/* Determines from the kernel how a process ended, or why it never started. */
static void
process_establish(struct worker_process *m)
{
    struct ending *e = &m->ending;
    int status = 0;

    process_take_words(m);
    if (m->worker.pid > 0 &&
        wait4(m->worker.pid, &status, 0, &e->usage) == m->worker.pid)
        m->worker.pid = 0;
    if (!m->is_command)
        e->status = status;
    if (m->jail.disk_hfd >= 0)
        (void)jail_disk(&m->jail, &e->disk_used);
    cgroup_count(&m->group, &e->counters);
}

/* Reports the end of a process that is in use. Any other process is freed, and
 * counts as a failure of the pool unless the pool killed it. */
static void
worker_process_end(struct worker_process *m)
{
    struct pool *p = m->pool;
    char why[WHY_BYTES];

    if (m->worker.has_ended)
        return;
    m->worker.has_ended = true;
    pool_unwatch(p, &m->on_pid);
    if (m->state == PROCESS_TAKEN) {
        process_take_words(m);
        p->config.events->ended(p->config.arg, &m->worker);
        return;
    }
    process_establish(m);
    process_print_why(m, why, sizeof why);
    bool is_failure = m->state != PROCESS_KILLED || m->ending.start_error;
    if (m->state == PROCESS_READY)
        p->n_ready--;
    else
        p->n_starting -= m->state != PROCESS_KILLED;
    worker_process_free(m);
    if (is_failure)
        pool_count_failure(p, why);
}

/* Reads a message of the first process of a command's jail. */
static void
process_hear(struct worker_process *m)
{
    struct ending *e = &m->ending;

    m->was_told = !watch_message(&m->watch);
    e->start_error = m->watch.exec_error;
    if (e->start_error)
        (void)snprintf(e->where, sizeof e->where, "exec");
}

/* The pidfd is readable when the process has ended. The last message may still
 * be unread then. */
static void
worker_process_pid_ready(struct source *s, uint32_t events)
{
    struct worker_process *m = CONTAINER_OF(s, struct worker_process, on_pid);

    (void)events;
    pool_wake(m->pool);
    if (!process_has_died(m))
        return;
    if (m->watch.j && !m->was_told)
        process_hear(m);
    worker_process_end(m);
}

/* --- a command */

/* After the last message the command has ended, and the rest of the jail is
 * killed. */
static void
worker_process_message_ready(struct source *s, uint32_t events)
{
    struct worker_process *m =
        CONTAINER_OF(s, struct worker_process, on_message);

    (void)events;
    pool_wake(m->pool);
    process_hear(m);
    if (!m->was_told)
        return;
    pool_unwatch(m->pool, &m->on_message);
    jail_kill(&m->jail);
}

/* Without a message, the jail was killed as a whole, so SIGKILL is the
 * default. */
static int
process_begin_command(struct worker_process *m)
{
    m->watch = (struct watch){
        .j = &m->jail, .group = &m->group, .limit = m->limit, .e = &m->ending};
    m->ending.status = SIGKILL; /* unless somebody tells better */
    m->at_ns = time_mono_ns();
    m->on_message.ready = worker_process_message_ready;
    int r = pool_watch(m->pool, m->jail.message_hfd, &m->on_message);
    return r < 0 ? r : jail_go(&m->jail);
}

/* --- a worker, until it is ready */

static void
process_become_ready(struct worker_process *m)
{
    struct pool *p = m->pool;

    pool_unwatch(p, &m->on_rpc);
    m->state = PROCESS_READY;
    m->at_ns = 0;
    p->n_starting--;
    p->n_ready++;
    p->failures = 0;
    p->had_success = true;
    p->config.events->ready(p->config.arg);
}

/* Accepts exactly one line, worker.ready. A worker that says anything else, or
 * more, is not ours, and is killed. */
static void
worker_process_rpc_ready(struct source *s, uint32_t events)
{
    struct worker_process *m = CONTAINER_OF(s, struct worker_process, on_rpc);
    size_t room = sizeof m->line - 1 - m->line_len;

    (void)events;
    pool_wake(m->pool);
    ssize_t n = read(m->worker.rpc_hfd, m->line + m->line_len, room);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        pool_unwatch(m->pool, &m->on_rpc);
        worker_kill(&m->worker);
        return;
    }
    m->line_len += (size_t)n;
    m->line[m->line_len] = 0;
    const char *newline = strchr(m->line, '\n');
    if (newline && !newline[1] && strstr(m->line, ready_line))
        process_become_ready(m);
    else if (newline || (size_t)n == room)
        worker_kill(&m->worker);
}

/* The first worker may compile all programs, and gets more time. */
static int
process_begin_worker(struct worker_process *m)
{
    int64_t s = m->pool->had_success ? START_S : FIRST_START_S;

    m->state = PROCESS_STARTING;
    m->at_ns = time_mono_ns() + s * 1000 * NS_PER_MS;
    m->on_rpc.ready = worker_process_rpc_ready;
    return pool_watch(m->pool, m->worker.rpc_hfd, &m->on_rpc);
}

/* --- start */

/* The descriptors of the answer belong to the process from now on. */
void
worker_process_take_over(struct worker_process *m, const struct spawn_answer *a)
{
    m->worker.pid = a->pid;
    m->worker.pid_hfd = a->hfd[SPAWN_PID];
    m->worker.rpc_hfd = a->hfd[SPAWN_RPC];
    m->worker.state_hfd = a->hfd[SPAWN_STATE];
    m->worker.network_hfd = a->hfd[SPAWN_NETWORK];
    m->words_hfd = a->hfd[SPAWN_WORDS];
    m->jail = (struct jail){.pid = a->pid,
                            .pid_hfd = a->hfd[SPAWN_PID],
                            .message_hfd = a->hfd[SPAWN_MESSAGE],
                            .go_hfd = a->hfd[SPAWN_GO],
                            .disk_hfd = a->hfd[SPAWN_DISK],
                            .proc_hfd = a->hfd[SPAWN_PROC]};
    m->group.memory_wall = a->memory_wall;
    memcpy(m->group.name, a->group, sizeof m->group.name);
    memcpy(m->group.dir_hfd, &a->hfd[SPAWN_GROUP], sizeof m->group.dir_hfd);
}

/* The order may have been cancelled meanwhile (by_us): then the process is
 * killed at once. */
void
worker_process_arrive(struct worker_process *m, const struct spawn_answer *a)
{
    int r = a->error;

    worker_process_take_over(m, a);
    m->on_pid.ready = worker_process_pid_ready;
    m->on_words.ready = worker_process_words_ready;
    if (m->worker.pid_hfd >= 0)
        (void)pool_watch(m->pool, m->worker.pid_hfd, &m->on_pid);
    if (m->words_hfd >= 0)
        (void)pool_watch(m->pool, m->words_hfd, &m->on_words);
    if (r == 0)
        r = m->is_command ? process_begin_command(m) : process_begin_worker(m);
    if (r == 0 && !m->ending.by_us)
        return;
    if (r < 0) {
        m->ending.start_error = -r;
        (void)snprintf(m->ending.where, sizeof m->ending.where, "%.*s",
                       WHERE_BYTES - 1, a->where);
    }
    if (m->worker.pid > 0)
        worker_kill(&m->worker);
    else
        worker_process_end(m);
}

void
worker_process_kill(struct worker_process *m)
{
    m->state = PROCESS_KILLED;
    worker_kill(&m->worker);
}

/* Reads "size resident shared ..." in pages. Shared pages are those of
 * files. */
uint64_t
worker_process_memory(const struct worker_process *m)
{
    unsigned long long resident, shared;
    char path[64], text[256];

    (void)snprintf(path, sizeof path, "/proc/%d/statm", m->worker.pid);
    if (file_read_text(AT_FDCWD, path, text, sizeof text) < 0 ||
        sscanf(text, "%*u %llu %llu", &resident, &shared) != 2)
        return 0; /* it has just ended */
    return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void
process_look_at_memory(struct worker_process *m, int64_t now)
{
    uint64_t used = worker_process_memory(m);

    m->at_ns = now + (int64_t)watch_pause_ms(used, m->memory_wall) * NS_PER_MS;
    if (used <= m->memory_wall)
        return;
    m->ending.over_memory = true;
    worker_kill(&m->worker);
}

/* Called by the pool when at_ns has passed: the watchdog of a command, the
 * memory check of a worker without a controller, or the time limit of a
 * start. */
void
worker_process_check(struct worker_process *m, int64_t now)
{
    if (m->is_command) {
        m->at_ns = now + (int64_t)watch_look(&m->watch) * NS_PER_MS;
        return;
    }
    if (m->state == PROCESS_TAKEN) {
        process_look_at_memory(m, now);
        return;
    }
    m->at_ns = 0;
    m->ending.start_error = ETIMEDOUT;
    (void)snprintf(m->ending.where, sizeof m->ending.where, "worker.ready");
    worker_kill(&m->worker);
}

/* --- for the user of a worker */

/* struct worker is the first member. */
static struct worker_process *
process_of(const struct worker *w)
{
    return (struct worker_process *)w;
}

/* Through the pidfd, so that a reused pid is never hit. */
void
worker_kill(struct worker *w)
{
    process_of(w)->ending.by_us = true;
    if (w->pid_hfd >= 0)
        (void)syscall(SYS_pidfd_send_signal, w->pid_hfd, SIGKILL, NULL, 0);
}

int
worker_signal(struct worker *w, int signal)
{
    if (w->pid_hfd < 0 || w->has_ended)
        return -ESRCH;
    return syscall(SYS_pidfd_send_signal, w->pid_hfd, signal, NULL, 0) < 0
               ? -errno
               : 0;
}

void
worker_reap(OWN struct worker *w, struct ending *ret)
{
    struct worker_process *m = process_of(w);

    process_establish(m);
    *ret = m->ending;
    worker_process_free(m);
}

size_t
worker_output(const struct worker *w, uint64_t at, char *to, size_t size,
              uint64_t *ret_at)
{
    return ring_copy(&process_of(w)->words, at, to, size, ret_at);
}

uint64_t
worker_output_end(const struct worker *w)
{
    return process_of(w)->words.end;
}

void
worker_use(const struct worker *w, struct worker_use *ret)
{
    const struct worker_process *m = process_of(w);
    struct cgroup_counters c;

    *ret = (struct worker_use){0};
    if (w->pid <= 0)
        return;
    if (m->jail.disk_hfd >= 0)
        (void)jail_disk(&m->jail, &ret->disk_bytes);
    (void)cgroup_memory(&m->group, &ret->memory_bytes);
    cgroup_count(&m->group, &c);
    ret->cpu_us = c.cpu_us;
}

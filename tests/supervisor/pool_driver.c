/* The pool, told by lines of words that are apart by tabs. Each gets one line
 * as an answer. A worker is known by a small number.
 *
 *   settle N            waits until N are ready
 *   take MB CPU DISK P  "NUMBER PID", or "none" or an error
 *   run MB CPU DISK P COMMAND...   "NUMBER"
 *   ask NUMBER TEXT     sends a line; the lines of the answer as one, to "= N"
 *   call NUMBER TEXT    sends a line; the line of the answer
 *   kill NUMBER         "ok"
 *   signal NUMBER N     "ok"
 *   wait NUMBER         its end: "CAUSE STATUS OOM_KILLS BY_US WHERE"
 *   output NUMBER       what it has written, after its end or before
 *   until NUMBER TEXT   waits until its output has TEXT
 *   use NUMBER          "MEMORY DISK"
 *   failures            how many starts failed, and the last reason
 *   spawner             its process
 *   step                waits for something to happen
 *   beside              makes a second pool like it, of which nobody takes
 */
#include "supervisor/workers/spawner.h"
#include "supervisor/workers/worker_impl.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 256, WORDS = 64, TEXT = 1 << 16 };

static struct reactor reactor;
static struct pool_config config;
static struct cgroup_host host;
static struct pool *pool, *other;
static struct worker *workers[WORKERS];
static int n_workers, n_failures;
static char last_failure[512];

static void
on_ready(void *arg)
{
    (void)arg;
}

static void
on_failed(void *arg, const char *why)
{
    (void)arg;
    n_failures++;
    snprintf(last_failure, sizeof last_failure, "%s", why);
}

static void
on_ended(void *arg, struct worker *w)
{
    (void)arg;
    (void)w;
}

static const struct pool_events events = {
    .ready = on_ready, .failed = on_failed, .ended = on_ended};

static void
nothing(struct source *s, uint32_t ready)
{
    (void)s;
    (void)ready;
}

static void
step(void)
{
    (void)reactor_step(&reactor);
}

/* Until there is something to read from any of these. */
static void
step_until_readable(int hfd, int other_hfd)
{
    struct pollfd p[] = {{hfd, POLLIN, 0}, {other_hfd, POLLIN, 0}};
    struct source s[2] = {{.hfd = -1, .ready = nothing},
                          {.hfd = -1, .ready = nothing}};

    for (int i = 0; i < 2; i++)
        if (p[i].fd >= 0)
            (void)reactor_add(&reactor, &s[i], p[i].fd, EPOLLIN);
    while (poll(p, 2, 0) == 0)
        step();
    for (int i = 0; i < 2; i++)
        reactor_remove(&reactor, &s[i]);
}

static void
take_limits(char **word, uint32_t *limit)
{
    limit[LIMIT_memory] = (uint32_t)atoi(word[0]);
    limit[LIMIT_cpu] = (uint32_t)atoi(word[1]);
    limit[LIMIT_disk] = (uint32_t)atoi(word[2]);
    limit[LIMIT_processes] = (uint32_t)atoi(word[3]);
}

static void
do_settle(char **word)
{
    while (pool_ready(pool) < (uint32_t)atoi(word[0]))
        step();
    printf("%u %u\n", pool_ready(pool), pool_starting(pool));
}

static void
do_take(char **word)
{
    uint32_t limit[N_LIMITS] = {0};

    take_limits(word, limit);
    int r = pool_take(pool, limit, &workers[n_workers]);
    if (r < 0)
        printf("%s\n", r == -EAGAIN ? "none" : strerror(-r));
    else
        printf("%d %d\n", n_workers, workers[n_workers]->pid);
    n_workers += r == 0;
}

static void
do_run(char **word)
{
    uint32_t limit[N_LIMITS] = {0};
    struct worker_command c = {.argv = word + 4, .limit = limit};

    take_limits(word, limit);
    int r = pool_run(pool, &c, &workers[n_workers]);
    if (r < 0)
        printf("%s\n", strerror(-r));
    else
        printf("%d\n", n_workers++);
}

static void
do_ask(char **word)
{
    static char text[TEXT];
    struct worker *w = workers[atoi(word[0])];
    size_t n = 0;

    dprintf(w->rpc_hfd, "%s\n", word[1]);
    while (n < sizeof text - 1) {
        step_until_readable(w->rpc_hfd, -1);
        ssize_t got = read(w->rpc_hfd, text + n, sizeof text - 1 - n);
        if (got == 0 || (got < 0 && errno != EAGAIN))
            break;
        n += got > 0 ? (size_t)got : 0;
        text[n] = 0;
        if (n >= 4 && !strncmp(text + n - 4, "= ", 2))
            break;
    }
    text[n] = 0;
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\n')
            text[i] = '|';
    printf("%s\n", text);
}

/* Records are read and dropped. */
static void
do_call(char **word)
{
    static char text[1 << 20];
    struct worker *w = workers[atoi(word[0])];
    ssize_t got = 1;
    size_t n = 0;

    dprintf(w->rpc_hfd, "%s\n", word[1]);
    while (got && n < sizeof text - 1 && (!n || text[n - 1] != '\n')) {
        step_until_readable(w->rpc_hfd, w->state_hfd);
        (void)!read(w->state_hfd, text + n, sizeof text - n);
        got = read(w->rpc_hfd, text + n, sizeof text - 1 - n);
        n += got > 0 ? (size_t)got : 0;
    }
    text[n] = 0;
    fputs(n ? text : "\n", stdout);
}

static void
do_kill(char **word)
{
    worker_kill(workers[atoi(word[0])]);
    puts("ok");
}

static void
do_signal(char **word)
{
    int r = worker_signal(workers[atoi(word[0])], atoi(word[1]));
    puts(r < 0 ? strerror(-r) : "ok");
}

static char kept[TEXT];

static void
keep_output(const struct worker *w)
{
    uint64_t at;
    size_t n = worker_output(w, 0, kept, sizeof kept - 1, &at);

    kept[n] = 0;
}

static void
do_wait(char **word)
{
    struct worker *w = workers[atoi(word[0])];
    struct ending e;

    while (!w->has_ended)
        step();
    keep_output(w);
    worker_reap(w, &e);
    workers[atoi(word[0])] = NULL;
    printf("%s %d %llu %d %s\n", ending_cause(&e),
           WIFEXITED(e.status) ? WEXITSTATUS(e.status) : -WTERMSIG(e.status),
           (unsigned long long)e.counters.oom_kills, e.by_us,
           *e.where ? e.where : "-");
}

static void
print_kept(void)
{
    for (char *p = kept; *p; p++)
        putchar(*p == '\n' ? '|' : *p);
    putchar('\n');
}

static void
do_output(char **word)
{
    const struct worker *w = workers[atoi(word[0])];

    if (w)
        keep_output(w);
    print_kept();
}

static void
do_until(char **word)
{
    const struct worker *w = workers[atoi(word[0])];

    for (keep_output(w); !strstr(kept, word[1]) && !w->has_ended;
         keep_output(w))
        step();
    print_kept();
}

static void
do_use(char **word)
{
    struct worker_use u;

    worker_use(workers[atoi(word[0])], &u);
    printf("%llu %llu\n", (unsigned long long)u.memory_bytes,
           (unsigned long long)u.disk_bytes);
}

static void
do_failures(char **word)
{
    int wanted = *word ? atoi(*word) : 0;

    while (n_failures < wanted)
        step();
    printf("%d %s\n", n_failures, last_failure);
}

static void
do_spawner(char **word)
{
    (void)word;
    printf("%d\n", pool->spawner);
}

static void
do_step(char **word)
{
    (void)word;
    step();
    puts("ok");
}

static void
do_beside(char **word)
{
    (void)word;
    puts(pool_new(&config, &host, &other) < 0 ? "failed" : "ok");
    while (other && pool_ready(other) < config.idle)
        step();
}

static const struct {
    const char *name;
    void (*run)(char **word);
} orders[] = {
    {"settle", do_settle},   {"take", do_take},     {"run", do_run},
    {"ask", do_ask},         {"call", do_call},     {"kill", do_kill},
    {"signal", do_signal},   {"wait", do_wait},     {"output", do_output},
    {"until", do_until},     {"use", do_use},       {"failures", do_failures},
    {"spawner", do_spawner}, {"beside", do_beside}, {"step", do_step},
};

static void
obey(char *line)
{
    char *word[WORDS + 1] = {0};
    int n = 0;

    for (char *w = strtok(line, "\t\n"); w && n < WORDS;
         w = strtok(NULL, "\t\n"))
        word[n++] = w;
    for (size_t i = 0; n && i < sizeof orders / sizeof *orders; i++)
        if (!strcmp(word[0], orders[i].name))
            orders[i].run(word + 1);
    fflush(stdout);
}

/* pool_driver IDLE BACKEND CGROUP WORKER... */
int
main(int argc, char **argv)
{
    static char line[TEXT];
    struct options o = {.cgroup = argv[3]};
    struct list pools;

    if (argc == 2 && !strcmp(argv[1], "spawner"))
        return spawner_main();
    for (int i = 0; i <= BACKEND_rlimits; i++)
        if (argc > 4 && !strcmp(argv[2], backend_names[i]))
            o.best = (enum backend)i;
    cgroup_host_init(&host, &o);
    config = (struct pool_config){.argv = argv + 4,
                                  .envp = environ,
                                  .idle = (uint32_t)atoi(argv[1]),
                                  .events = &events,
                                  .pools = &pools,
                                  .reactor = &reactor};
    list_init(&pools);
    if (reactor_init(&reactor) < 0 || pool_new(&config, &host, &pool) < 0)
        return 1;
    while (fgets(line, sizeof line, stdin))
        obey(line);
    for (int i = 0; i < n_workers; i++)
        if (workers[i]) {
            struct ending e;
            worker_kill(workers[i]);
            while (!workers[i]->has_ended)
                step();
            worker_reap(workers[i], &e);
        }
    pool_free(other);
    pool_free(pool);
    reactor_fini(&reactor);
    cgroup_host_fini(&host);
    return 0;
}

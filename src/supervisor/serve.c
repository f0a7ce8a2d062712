/* The beginning and the end of the supervisor.
 *
 * The order of the start: the store first, because another supervisor may have
 * it; then the socket's name; then the workers. Clients are accepted when the
 * first worker is ready. The end is the reverse: no new clients, all sessions
 * paused, the store closed, the workers killed. */
#include "supervisor/serve.h"

#include "supervisor/config/config.h"
#include "supervisor/config/image_list.h"
#include "supervisor/front/http.h"
#include "supervisor/front/listener.h"
#include "supervisor/front/preview.h"
#include "supervisor/jail/code_owner.h"
#include "supervisor/jail/probe.h"
#include "supervisor/session/events.h"
#include "supervisor/session/life.h"
#include "supervisor/session/repair.h"
#include "supervisor/session/say.h"
#include "supervisor/session/session.h"

#include "base/exit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 1024 };
#define SLOW_NS (2 * NS_PER_S)

/* Everything that serving needs. Only the event loop uses it, except
 * `wake_hfd`, to which the store's thread writes. serving_end frees it. */
struct serving {
    struct supervisor sv;
    struct config *config;
    struct cgroup_host host;
    bool has_host;
    char worker[PATH_BYTES], root[PATH_BYTES], code[PATH_BYTES];
    char machine[PATH_BYTES], broker[PATH_BYTES];
    char *worker_argv[10], *worker_envp[4];
    struct list pools; /* of workers: the main one, and those of images.c */
    struct listener *listener;
    struct http *http;         /* NULL: not enabled */
    struct previews *previews; /* NULL: not enabled */
    struct source signals;
    struct source kept;        /* jobs of the store are done: wake_hfd */
    struct reactor_timer slow; /* the first worker takes long */
    bool is_open;   /* clients are served, or the attempt has failed */
    int open_error; /* the result of that attempt */
    int wake_hfd;   /* the store's thread writes to it */
};

/* Prints why the supervisor cannot start. Returns -EINVAL. */
static int
serve_refuse(const char *what, const char *why)
{
    fprintf(stderr, "wasm-sandbox: serve: %s%s%s\n", what, *why ? ": " : "",
            why);
    return -EINVAL;
}

/* --- workers */

static void serve_open(struct serving *g);

/* The first ready worker also opens the socket for clients. */
static void
serve_on_worker_ready(void *arg)
{
    struct serving *g = arg;

    g->sv.start_why[0] = 0;
    serve_open(g);
    lives_take_workers(&g->sv);
}

/* Clients are served nevertheless: they get an error with the reason, instead
 * of no answer. */
static void
serve_on_start_failed(void *arg, const char *why)
{
    struct serving *g = arg;

    say(&g->sv, LEVEL_error, "no worker can be started: %s", why);
    (void)snprintf(g->sv.start_why, sizeof g->sv.start_why, "%s", why);
    serve_open(g);
}

/* A worker of a session has died. Its life decides about the session. */
static void
serve_on_worker_ended(void *arg, struct worker *w)
{
    (void)arg;
    life_on_ended(w->user);
}

/* The events of the main pool. Pools of older images have their own
 * (session/images.c). */
static const struct pool_events pool_events = {
    .ready = serve_on_worker_ready,
    .failed = serve_on_start_failed,
    .ended = serve_on_worker_ended,
};

/* Finds a file that was installed with us: `one` (in a build folder) or `other`
 * (installed), relative to the folder above ours. */
static bool
serve_find_beside(const char *one, const char *other, int mode,
                  char ret[PATH_BYTES])
{
    char exe[PATH_BYTES];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

    if (n < 0)
        return false;
    exe[n] = 0;
    for (int i = 0; i < 2 && strrchr(exe, '/'); i++)
        *strrchr(exe, '/') = 0;
    (void)snprintf(ret, PATH_BYTES, "%.900s/%s", exe, one);
    if (access(ret, mode) == 0)
        return true;
    (void)snprintf(ret, PATH_BYTES, "%.900s/%s", exe, other);
    return access(ret, mode) == 0;
}

/* Another program can be configured, for tests. */
static int
serve_find_worker(struct serving *g)
{
    if (*g->config->worker)
        (void)snprintf(g->worker, sizeof g->worker, "%s", g->config->worker);
    else if (!serve_find_beside("wasm-sandbox", "bin/wasm-sandbox", X_OK,
                                g->worker))
        return serve_refuse("no wasm-sandbox beside this program",
                            "--worker PROGRAM names one");
    return 0;
}

/* Sessions whose policy is not used need none. */
static const char *
serve_find_broker(struct serving *g)
{
    return serve_find_beside("libexec/wasmsand-netd", "libexec/wasmsand-netd",
                             X_OK, g->broker)
               ? g->broker
               : "";
}

/* The configuration names an image, or the installed one is used. */
static int
serve_find_root(struct serving *g)
{
    if (*g->config->root)
        (void)snprintf(g->root, sizeof g->root, "%s", g->config->root);
    else if (!serve_find_beside("share/wasmsand/root.tar",
                                "../share/wasmsand/root.tar", R_OK, g->root))
        return serve_refuse("no root image",
                            "`make rootfs` builds one, --root IMAGE names one");
    return 0;
}

/* Finds the images with names: those of the configuration, then the installed
 * ones. */
static int
serve_find_images(struct serving *g)
{
    CLEANUP(image_list_fini) struct image_list list = {0};
    char dir[PATH_BYTES];

    int r = image_list_parse(&list, g->config->images);
    if (r == 0 && serve_find_beside("share/wasmsand/images",
                                    "../share/wasmsand/images", R_OK, dir))
        r = image_list_scan(&list, dir);
    if (r == 0)
        r = images_add_names(&g->sv, &list, false);
    return r < 0 ? serve_refuse("images", strerror(-r)) : 0;
}

/* Finds the disk images, and the program that runs them. */
static int
serve_find_disks(struct serving *g)
{
    CLEANUP(image_list_fini) struct image_list list = {0};

    if (serve_find_beside("libexec/wasmsand-v86", "libexec/wasmsand-v86", X_OK,
                          g->machine))
        g->sv.images.machine = g->machine;
    int r = image_list_parse(&list, g->config->disk_images);
    if (r == 0)
        r = images_add_names(&g->sv, &list, true);
    return r < 0 ? serve_refuse("diskImages", strerror(-r)) : 0;
}

/* Finds the compiled code of the installation, if workers cannot check its
 * owner themselves (jail/code_owner.h). */
static char *
serve_find_code(struct serving *g)
{
    bool is_there = geteuid() != 0 &&
                    serve_find_beside("share/wasmsand/code",
                                      "../share/wasmsand/code", R_OK, g->code);

    return is_there && code_owner_is_trusted(g->code) ? g->code : NULL;
}

/* A limit that nothing enforces would be a false promise. */
static int
serve_check_enforced(const struct serving *g)
{
    for (int i = 0; i < N_LIMITS; i++) {
        if (probe_session_enforcer(g->config, &g->host, (enum limit)i) ||
            g->config->allow_unenforced & 1U << i)
            continue;
        fprintf(stderr,
                "wasm-sandbox: serve: nothing on this host enforces the limit "
                "'%s'%s; --allow-unenforced %s starts without it\n",
                limit_rows[i].name,
                probe_enforcer(&g->host, (enum limit)i)
                    ? " with compile: separate"
                    : "",
                limit_rows[i].name);
        return -EINVAL;
    }
    return 0;
}

/* The hash of the image is passed on, so that workers need not compute it. A
 * worker that is not ours gets no options. */
static int
serve_set_worker_words(struct serving *g)
{
    char **words = g->worker_argv;

    *words++ = g->worker;
    *words++ = "worker";
    if (serve_find_disks(g) < 0)
        return -EINVAL;
    if (*g->config->worker)
        return 0;
    if (serve_find_root(g) < 0)
        return -EINVAL;
    int r = images_set_current(&g->sv, g->root);
    if (r < 0) {
        char what[PATH_BYTES + 16];
        (void)snprintf(what, sizeof what, "root image %s", g->root);
        return serve_refuse(what, strerror(-r));
    }
    if (serve_find_images(g) < 0)
        return -EINVAL;
    *words++ = "--root";
    *words++ = g->root;
    *words++ = "--image-hash";
    *words++ = g->sv.images.current->hash;
    if (g->config->compile == COMPILE_separate)
        *words++ = "--compile";
    g->sv.images.code = serve_find_code(g);
    if (g->sv.images.code) {
        *words++ = "--checked-code";
        *words++ = g->sv.images.code;
    }
    return 0;
}

/* Passes the location of the cache, and no secrets. Owned by g. */
static void
serve_set_worker_environment(struct serving *g)
{
    static const char *const kept[] = {"HOME", "XDG_CACHE_HOME", "PATH"};
    size_t n = 0;

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const char *value = getenv(kept[i]);
        if (value && asprintf(&g->worker_envp[n], "%s=%s", kept[i], value) > 0)
            n++;
    }
    g->worker_envp[n] = NULL;
}

/* The pool starts its first workers at once, while the rest of the start goes
 * on. */
static int
serve_start_workers(struct serving *g)
{
    const struct config *c = g->config;
    const struct options o = {.best = (enum backend)c->backend,
                              .cgroup = *c->cgroup ? c->cgroup : NULL};

    cgroup_host_init(&g->host, &o);
    g->has_host = true;
    if (serve_find_worker(g) < 0 || serve_check_enforced(g) < 0)
        return -EINVAL;
    int r = serve_set_worker_words(g);
    if (r < 0)
        return r;
    serve_set_worker_environment(g);
    const struct pool_config w = {.argv = g->worker_argv,
                                  .envp = g->worker_envp,
                                  .idle = c->pool_size,
                                  .compiles = c->compile == COMPILE_separate,
                                  .pools = &g->pools,
                                  .reactor = &g->sv.reactor,
                                  .events = &pool_events,
                                  .arg = g};
    images_begin(&g->sv, &w, &g->host);
    r = pool_new(&w, &g->host, &g->sv.pool);
    return r < 0 ? serve_refuse("workers", strerror(-r)) : 0;
}

/* --- the store */

/* A sync failed after answers were sent for `interval` commits. The operator
 * must know; no client can be notified any more. */
static void
serve_on_doubt(void *arg, int error, const char *why)
{
    (void)error;
    say(arg, LEVEL_error, "the store: saved changes may not be on the disk: %s",
        why);
}

/* Sessions are loaded before the store's thread exists, on this thread. */
static int
serve_open_store(struct serving *g)
{
    const struct config *c = g->config;
    const int64_t day_ms = INT64_C(86400000);
    const struct store_options o = {
        .keep_ended_ms = c->store_events_days * day_ms,
        .keep_events_ms = c->store_events_days * day_ms};
    const struct store_thread_config k = {.interval_ms = c->store_interval_ms,
                                          .wake_hfd = g->wake_hfd,
                                          .doubt = serve_on_doubt,
                                          .arg = &g->sv};
    CLEANUP(store_freep) struct store *store = NULL;
    char why[STORE_WHY_BYTES];

    int r = store_open(c->store_dir, &o, why, &store);
    if (r != 0)
        return serve_refuse("the store", why);
    if (!store_has_reserve(store))
        say(&g->sv, LEVEL_warn,
            "the store: cannot reserve space in %s: on a full disk, no file "
            "can be removed and no session ended",
            c->store_dir);
    r = repair_report(&g->sv, store);
    if (r < 0)
        return serve_refuse("the store's events", store_why(store));
    r = sessions_load(&g->sv, store);
    if (r < 0)
        return serve_refuse("the store's sessions", strerror(-r));
    r = store_thread_new(STEAL(store), &k, &g->sv.store_thread);
    if (r < 0)
        return serve_refuse("the store's thread", strerror(-r));
    sessions_pause_orphans(&g->sv);
    retention_begin(&g->sv);
    return 0;
}

/* --- the loop's sources */

/* Jobs of the store are done. If the store had too much waiting, the workers
 * may send again. */
static void
serve_on_kept(struct source *source, uint32_t events)
{
    struct serving *g = CONTAINER_OF(source, struct serving, kept);
    uint64_t n;

    (void)events;
    if (read(g->wake_hfd, &n, sizeof n) < 0)
        return;
    bool was_full = store_thread_is_full(g->sv.store_thread);
    store_thread_drain(g->sv.store_thread);
    if (was_full && !store_thread_is_full(g->sv.store_thread))
        commits_go_on(&g->sv);
    supervisor_check_end(&g->sv);
}

/* SIGTERM, SIGINT and SIGHUP end the supervisor in order: every session commits
 * and is paused. */
static void
serve_on_signal(struct source *source, uint32_t events)
{
    struct serving *g = CONTAINER_OF(source, struct serving, signals);
    struct signalfd_siginfo info;

    (void)events;
    if (read(source->hfd, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    say(&g->sv, LEVEL_info, "signal %u: pausing %zu sessions", info.ssi_signo,
        g->sv.sessions.n_in_state[SESSION_active]);
    supervisor_end(&g->sv);
}

/* Signals are blocked and read from a descriptor, so they arrive in the event
 * loop like everything else. */
static int
serve_add_sources(struct serving *g)
{
    struct reactor *r = &g->sv.reactor;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    g->signals.ready = serve_on_signal;
    g->kept.ready = serve_on_kept;
    int hfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    int e = hfd < 0 ? -errno : reactor_add(r, &g->signals, hfd, EPOLLIN);
    if (e == 0)
        e = reactor_add(r, &g->kept, g->wake_hfd, EPOLLIN);
    return e < 0 ? serve_refuse("the loop", strerror(-e)) : 0;
}

/* Errors of the token file and of the address are configuration errors, and are
 * printed like them. */
static int
serve_start_http(struct serving *g)
{
    CLEANUP(buf_fini) struct buf errors;

    buf_init(&errors, SIZE_MAX);
    int r = http_new(&g->sv, &errors, &g->http);
    config_print_errors(&errors);
    if (r == 0)
        say(&g->sv, LEVEL_info, "serving HTTP on %s, port %d",
            g->config->http_address, http_port(g->http));
    return r;
}

static int
serve_start_previews(struct serving *g)
{
    CLEANUP(buf_fini) struct buf errors;

    buf_init(&errors, SIZE_MAX);
    int r = previews_new(&g->sv, &errors, &g->previews);
    config_print_errors(&errors);
    if (r == 0)
        say(&g->sv, LEVEL_info, "serving previews of %s on %s, port %d",
            g->config->preview_domain, g->config->preview_address,
            g->sv.preview_port);
    return r;
}

/* Checks the path of the socket early: a supervisor that runs there already
 * must be noticed before workers are started. */
static int
serve_prepare_socket(struct serving *g)
{
    char why[PATH_BYTES];

    return listener_new(&g->sv, g->config->socket, why, sizeof why,
                        &g->listener) < 0
               ? serve_refuse("the socket", why)
               : 0;
}

/* The log line shows that clients can connect now; scripts wait for it. */
static int
serve_start_listening(struct serving *g)
{
    char why[PATH_BYTES];

    if (listener_begin(g->listener, why, sizeof why) < 0)
        return serve_refuse("the socket", why);
    if (g->config->http_enabled && serve_start_http(g) < 0)
        return -EINVAL;
    if (*g->config->preview_domain && serve_start_previews(g) < 0)
        return -EINVAL;
    say(&g->sv, LEVEL_info, "serving on %s, %zu sessions", g->config->socket,
        g->sv.sessions.n_in_state[SESSION_paused] +
            g->sv.sessions.n_in_state[SESSION_stopped] +
            g->sv.sessions.n_in_state[SESSION_error]);
    return 0;
}

/* Begins to serve clients: the first worker is ready, or there will be none
 * soon. */
static void
serve_open(struct serving *g)
{
    if (g->is_open || g->sv.is_ending)
        return;
    g->is_open = true;
    reactor_set_timer(&g->sv.reactor, &g->slow, 0);
    g->open_error = serve_start_listening(g);
    if (g->open_error < 0)
        reactor_stop(&g->sv.reactor);
}

/* Explains a start that takes long. */
static void
serve_on_slow(struct reactor_timer *t)
{
    const struct serving *g = CONTAINER_OF(t, struct serving, slow);

    say(&g->sv, LEVEL_warn,
        "the first worker is not ready yet: without installed code it compiles "
        "all programs of the root image once, which takes minutes; clients are "
        "served after that");
}

/* Clients are accepted when there is a worker for them. */
static void
serve_await_worker(struct serving *g)
{
    g->slow.fire = serve_on_slow;
    if (!g->config->pool_size)
        serve_open(g);
    else if (!g->is_open)
        reactor_set_timer(&g->sv.reactor, &g->slow, time_mono_ns() + SLOW_NS);
}

/* --- the end */

/* Every life is asked to commit and end, with a deadline of its own. The event
 * loop runs on meanwhile, because the commits need it, and stops with the last
 * life. A life ends only when no job of the store is under way for it, so
 * nothing that was acknowledged is lost. Clients stay connected until then, and
 * get the answers to their calls. */
void
supervisor_end(struct supervisor *sv)
{
    sv->is_ending = true;
    events_end_waits(sv);
    lives_shut_down(sv);
    supervisor_check_end(sv);
}

/* Called whenever a life has ended or a job of the store is done. */
void
supervisor_check_end(struct supervisor *sv)
{
    if (sv->is_ending && list_is_empty(&sv->lives))
        reactor_stop(&sv->reactor);
}

/* The store's thread answers everything that waits for it, so clients must
 * still exist then. Accepts a start that failed half-way. */
static void
serving_end(struct serving *g)
{
    listener_free(g->listener);
    http_free(g->http);
    previews_free(g->previews);
    store_thread_free(g->sv.store_thread);
    session_forget_unsaved(&g->sv);
    LIST_FOR_EACH_SAFE(it, &g->sv.clients)
        client_gone(CONTAINER_OF(it, struct client, link));
    pool_free(g->sv.pool);
    g->sv.pool = NULL;
    sessions_fini(&g->sv.sessions);
    images_fini(&g->sv.images);
    for (char **e = g->worker_envp; *e; e++)
        free(*e);
    if (g->has_host)
        cgroup_host_fini(&g->host);
    reactor_fini(&g->sv.reactor);
    (void)close(g->wake_hfd);
}

/* --- the beginning */

/* Each session needs several descriptors, so the limit is raised to its
 * maximum. A client that is gone (SIGPIPE) and a file that is too large
 * (SIGXFSZ) are errors of a call, not signals that end the process. */
static void
serve_raise_limits(void)
{
    struct rlimit r;

    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_NOFILE, &r) == 0) {
        r.rlim_cur = r.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &r);
    }
}

/* Another supervisor may have the store, so the store is opened before anything
 * that takes time. */
static int
serving_begin(struct serving *g)
{
    g->sv.config = g->config;
    g->sv.broker = serve_find_broker(g);
    g->sv.started_ms = time_wall_ms();
    images_init(&g->sv.images);
    list_init(&g->sv.clients);
    list_init(&g->sv.lives);
    list_init(&g->sv.unsaved);
    list_init(&g->sv.event_waiters);
    g->wake_hfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (g->wake_hfd < 0 || reactor_init(&g->sv.reactor) < 0 ||
        sessions_init(&g->sv.sessions) < 0)
        return serve_refuse("the loop", strerror(errno));
    int r = serve_open_store(g);
    if (r == 0)
        r = serve_prepare_socket(g);
    if (r == 0)
        r = serve_start_workers(g);
    if (r == 0)
        r = serve_add_sources(g);
    if (r == 0)
        serve_await_worker(g);
    return r;
}

/* The structure is static because it is large; there is one in a process. */
int
serve_main(char *const *words)
{
    static struct serving g;
    CLEANUP(config_freep) struct config *c = NULL;

    if (config_load(words, &c) != 0)
        return EXIT_USAGE;
    g.config = c;
    list_init(&g.pools);
    serve_raise_limits();
    (void)umask(077); /* the store is nobody else's, whatever its folder */
    int r = serving_begin(&g);
    if (r == 0)
        r = reactor_run(&g.sv.reactor);
    if (r == 0)
        r = g.open_error;
    serving_end(&g);
    return r == 0 ? 0 : EXIT_CANNOT;
}

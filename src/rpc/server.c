/* The server from its start to its end.
 *
 * The end has a fixed order. Sandboxes go first, because their jobs use
 * everything else. Then `kill` is answered, and the rest of the output is sent
 * as far as the client reads it. */
#include "rpc/server_impl.h"

#include "base/exit.h"
#include "base/hfd.h"
#include "base/os_time.h"
#include "rpc/config.h"
#include "rpc/loop.h"
#include "rpc/methods.h"
#include "rpc/report.h"
#include "rpc/slot.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { CONFIG_BYTES_MAX = 16 << 20 };

/* --- the configuration file */

static char *
server_read_file(const char *path, size_t *ret_len)
{
    FILE *f = fopen(path, "re");
    char *p = f ? malloc(CONFIG_BYTES_MAX) : NULL;

    if (p)
        *ret_len = fread(p, 1, CONFIG_BYTES_MAX, f);
    if (p && ferror(f)) {
        free(p);
        p = NULL;
    }
    if (f)
        (void)fclose(f);
    return p;
}

/* NULL: what was wrong is in `error`. */
static struct message *
server_read_config(const char *path, char error[PARAM_ERROR_BYTES])
{
    CLEANUP(message_putp) struct message *msg = NULL;
    const struct method *create =
        method_find(&server_methods, (struct text){"create", 6}, false);
    size_t len = 0;
    char *p = server_read_file(path, &len);

    if (!p) {
        (void)snprintf(error, PARAM_ERROR_BYTES, "%s", strerror(errno));
        return NULL;
    }
    int r = message_new(p, len, &msg, error);
    free(p);
    if (r < 0)
        return NULL;
    if (!json_is(msg->root, JSON_OBJECT)) {
        (void)snprintf(error, PARAM_ERROR_BYTES, "not a JSON object");
        return NULL;
    }
    return method_check(&server_methods, create, msg->root, error) < 0
               ? NULL
               : STEAL(msg);
}

/* The defaults are a configuration without parameters of `create`, on which
 * all others are based. */
static bool
server_set_defaults(struct server *srv)
{
    const char *path = srv->options->config;
    char error[PARAM_ERROR_BYTES] = "out of memory";

    if (!path)
        return true;
    CLEANUP(message_putp) struct message *msg = server_read_config(path, error);
    if (msg)
        srv->defaults = config_new(srv, msg, msg->root, false);
    if (srv->defaults)
        return true;
    report_line(srv, LOG_ERROR, "%s: %s", path, error);
    return false;
}

/* --- beginning and end */

/* Signals that end the server arrive through a descriptor. */
static int
server_block_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The limit of the command line is refused now, rather than with each
 * sandbox. */
static int
server_check_memory(struct server *srv, struct wsand_error *err)
{
    const struct wsand_options o = {.size = sizeof o,
                                    .memory_bytes = srv->options->memory_bytes,
                                    .needs_shell = true};
    struct wsand_sandbox *sb = NULL;

    if (!o.memory_bytes)
        return 0;
    int r = wsand_sandbox_new(srv->rt, &o, &sb, err);
    wsand_sandbox_free(sb);
    return r;
}

/* Parts that server_fini frees are initialised before the first step that can
 * fail. */
static bool
server_init(struct server *srv, int in_hfd, int out_hfd)
{
    struct wsand_runtime_options o = {.size = sizeof o,
                                      .root_image = srv->options->root_image,
                                      .images = srv->options->images,
                                      .n_images = srv->options->n_images,
                                      .shipped_dir = srv->options->shipped_dir,
                                      .broker = srv->options->broker,
                                      .resolvers = srv->options->resolvers,
                                      .compiler = srv->options->compiler};
    const struct worker_options *worker = srv->options->worker;
    struct wsand_error err = {0};

    if (!o.compiler)
        o.compiler = "/proc/self/exe";
    srv->started_ms = time_mono_ns() / NS_PER_MS;
    srv->wake_hfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    leader_init(&srv->leader,
                (const int[]){in_hfd, srv->wake_hfd, srv->signal_hfd},
                srv->signal_hfd < 0 ? 2 : 3);
    (void)pthread_mutex_init(&srv->lock, NULL);
    list_init(&srv->posted);
    list_init(&srv->callbacks);
    for (size_t i = 0; i < SLOT_BUCKETS; i++)
        list_init(&srv->slots[i]);
    writer_init(&srv->out, out_hfd, srv->wake_hfd);
    srv->out.out.deliver = srv->options->deliver;
    srv->out.out.deliver_arg = srv->options->deliver_arg;
    leader_add_output(&srv->leader, srv->out.out.hfd);
    frame_init(&srv->in, 0);
    srv->in.keeps_space = true;
    job_init_peer(srv);
    guard_init(&srv->guard);
    if (!server_set_defaults(srv))
        return false;
    srv->in.max = config_limit(srv->defaults, "rpcBytes", RPC_BYTES);
    if (worker) {
        o.root_image_hash = worker->root_image_hash;
        o.is_closed = true;
        o.keeps_compiler = worker->keeps_compiler;
        o.shipped_is_checked = worker->shipped_is_checked;
        o.network_hfd = worker->network_hfd;
    }
    if (wsand_runtime_new(&o, &srv->rt, &err) == 0 &&
        server_check_memory(srv, &err) == 0)
        return !worker || worker_begin(srv);
    report_line(srv, LOG_ERROR, "%s", wsand_error_text(&err));
    return false;
}

/* Freeing the sandbox first ends its jobs, which use the slot. */
static void
server_free_slot(struct slot *slot)
{
    wsand_sandbox_free(slot->sb);
    slot_free(slot);
}

/* Could all be written? A client that has gone is no failure. */
static void
server_check_output(struct server *srv)
{
    int error = srv->out.out.error;

    if (!error || error == EPIPE || error == ECONNRESET)
        return;
    srv->failure = error;
    report_line(srv, LOG_ERROR, "cannot write standard output: %s",
                strerror(error));
}

/* `kill` is answered when all sandboxes are gone, as its description says. */
static void
server_fini(struct server *srv)
{
    slot_each(srv, server_free_slot);
    wsand_runtime_free(srv->rt);
    if (srv->killer)
        answer_ok(srv->killer);
    guard_fini(&srv->guard); /* the rest is the client's: it may be slow */
    loop_drain(srv);
    server_check_output(srv);
    worker_free(srv->worker);
    config_put(srv->defaults);
    peer_fini(&srv->peer);
    frame_fini(&srv->in);
    writer_fini(&srv->out);
    (void)pthread_mutex_destroy(&srv->lock);
    (void)close(srv->wake_hfd);
    leader_fini(&srv->leader);
}

/* The supervisor shall know that a signal ended its worker. The default action
 * of the signal cannot tell: the worker is the first process of its namespace,
 * which the kernel exempts from it. So it exits as a shell would. */
static int
server_status(const struct server *srv)
{
    if (srv->options->worker && srv->end_signal)
        return EXIT_SIGNAL + srv->end_signal;
    return srv->failure ? EXIT_FAILURE : 0;
}

/* Signals are blocked before the first thread is started, so that all threads
 * inherit it. */
int
server_main(const struct server_options *o, int in_hfd, int out_hfd)
{
    struct server *srv = calloc(1, sizeof *srv);

    if (!srv)
        return EXIT_USAGE;
    srv->options = o;
    srv->signal_hfd = o->deliver ? -1 : server_block_signals();
    tidy_init(&srv->tidy);
    bool is_fine = server_init(srv, in_hfd, out_hfd);
    if (is_fine)
        loop_run(srv, in_hfd);
    server_fini(srv);
    int status = is_fine ? server_status(srv) : EXIT_USAGE;
    tidy_fini(&srv->tidy);
    hfd_closep(&srv->signal_hfd);
    free(srv);
    return status;
}

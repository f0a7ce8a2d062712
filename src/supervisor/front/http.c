/* The HTTP server: listening, connections, and their limits.
 *
 * Problem: strangers without a token must not keep out clients with one, nor
 * exhaust memory or descriptors.
 *
 * Idea: the two kinds have separate limits. A connection without a token can
 * only displace the oldest of its kind. Every wait for the other side has a
 * deadline, and failed authentications are answered at a limited rate. */
#include "supervisor/front/http_impl.h"

#include "base/hfd.h"
#include "supervisor/common/metrics.h"
#include "supervisor/config/config_impl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Limits that are not configurable. SLOWEST_BYTES_S is the rate that a client
 * must reach to keep its deadline while it sends or reads a long message. */
enum {
    SPARE_CONNECTIONS = 32, /* while evicted ones are being closed */
    HEADER_BYTES = 32768,
    SLOWEST_BYTES_S = 65536,
    LAST_STEPS = 4,
};

/* --- connections */

/* The deadline grows with the message, so that a slow but honest client can
 * finish. After a half-close, one second is enough to notice the end. */
void
http_conn_expect(struct conn *c, size_t bytes)
{
    int64_t s = c->is_half_closed ? 1
                                  : c->http->sv->config->http_request_s +
                                        (int64_t)(bytes / SLOWEST_BYTES_S);

    c->deadline_ns = time_mono_ns() + s * NS_PER_S;
}

/* Moves the connection between the two kinds, each with its own limit. */
void
http_conn_trust(struct conn *c, bool on)
{
    c->http->n_trusted += (size_t)on - (size_t)c->is_trusted;
    c->is_trusted = on;
}

/* Only the socket is shut down here: libmicrohttpd owns the connection, and
 * reports its end when it has noticed. A suspended request must be resumed for
 * that. */
static void
http_conn_close(struct conn *c)
{
    (void)shutdown(c->hfd, SHUT_RDWR);
    c->deadline_ns = 0;
    c->is_closing = true;
    if (c->request)
        http_request_resume(c->request);
}

/* A client that closes, or half closes, while it waits for an answer counts as
 * gone. */
void
http_conn_wait(struct conn *c)
{
    c->deadline_ns = 0;
    if (c->is_half_closed)
        http_conn_close(c);
}

/* libmicrohttpd does not read from a suspended connection, so it would not see
 * that the client is gone. A second registration for the end of input shows
 * it. */
static void
http_on_end(struct source *s, uint32_t events)
{
    struct conn *c = CONTAINER_OF(s, struct conn, end);

    (void)events;
    c->is_half_closed = true;
    if (c->request && c->request->is_suspended)
        http_conn_close(c);
    else if (!c->is_closing)
        http_conn_expect(c, 0);
}

/* Closes the oldest connection that has not shown a token, but never the newest
 * one, for which the space is needed. A flood of strangers thus only displaces
 * strangers. */
static void
http_evict_one(struct http *h)
{
    LIST_FOR_EACH(it, &h->conns) {
        struct conn *c = CONTAINER_OF(it, struct conn, link);
        if (c->is_trusted || c->is_closing || it->next == &h->conns)
            continue;
        h->evicted++;
        http_conn_close(c);
        return;
    }
}

/* Closes connections whose deadline has passed. One timer for all of them, once
 * a second, is enough: deadlines are seconds long. */
static void
http_on_sweep(struct reactor_timer *t)
{
    struct http *h = CONTAINER_OF(t, struct http, sweep);
    int64_t now = time_mono_ns();

    LIST_FOR_EACH(it, &h->conns) {
        struct conn *c = CONTAINER_OF(it, struct conn, link);
        if (!c->deadline_ns || c->deadline_ns > now)
            continue;
        h->expired++;
        http_conn_close(c);
    }
    reactor_set_timer(&h->sv->reactor, t,
                      list_is_empty(&h->conns) ? 0 : now + NS_PER_S);
}

/* A connection begins as a stranger, with a deadline for its first request. */
static void
http_conn_begin(struct http *h, struct MHD_Connection *connection, void **ret)
{
    struct conn *c = calloc(1, sizeof *c);
    const union MHD_ConnectionInfo *info = h->mhd.get_connection_info(
        connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    *ret = c;
    if (!c)
        return;
    *c = (struct conn){.http = h,
                       .hfd = info->connect_fd,
                       .end = {.hfd = -1, .ready = http_on_end}};
    (void)reactor_add_late(&h->sv->reactor, &c->end, c->hfd,
                           EPOLLRDHUP | EPOLLET);
    list_push_back(&h->conns, &c->link);
    h->accepted++;
    http_conn_expect(c, 0);
    if (++h->n_conns - h->n_trusted > h->sv->config->http_connections)
        http_evict_one(h);
    if (!h->sweep.at_ns)
        reactor_set_timer(&h->sv->reactor, &h->sweep,
                          time_mono_ns() + NS_PER_S);
}

/* libmicrohttpd has closed the connection, and nothing refers to it any
 * more. */
static void
http_conn_end(struct http *h, struct conn *c)
{
    if (!c)
        return;
    reactor_remove(&h->sv->reactor, &c->end);
    http_conn_trust(c, false);
    list_remove(&c->link);
    h->n_conns--;
    free(c);
}

static void
http_on_connection(void *cls, struct MHD_Connection *connection, void **context,
                   enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        http_conn_begin(cls, connection, context);
    else
        http_conn_end(cls, *context);
}

/* --- in the loop */

/* Lets libmicrohttpd handle its events. It may have more to do without an event
 * on its epoll, which get_timeout reports. */
static void
http_step(struct http *h)
{
    MHD_UNSIGNED_LONG_LONG ms;

    reactor_set_timer(&h->sv->reactor, &h->again, 0);
    (void)h->mhd.run(h->daemon);
    if (!h->again.at_ns && h->mhd.get_timeout(h->daemon, &ms) == MHD_YES)
        reactor_set_timer(&h->sv->reactor, &h->again,
                          time_mono_ns() + ms * NS_PER_MS);
}

/* Called when something outside of libmicrohttpd makes a connection ready. */
void
http_wake(struct http *h)
{
    reactor_set_timer(&h->sv->reactor, &h->again, time_mono_ns());
}

static void
http_on_ready(struct source *s, uint32_t events)
{
    (void)events;
    http_step(CONTAINER_OF(s, struct http, source));
}

static void
http_on_again(struct reactor_timer *t)
{
    http_step(CONTAINER_OF(t, struct http, again));
}

/* Answers the failed authentications whose delay is over. They are in the order
 * of their times. */
static void
http_on_forgive(struct reactor_timer *t)
{
    struct http *h = CONTAINER_OF(t, struct http, forgive);
    int64_t now = time_mono_ns(), next = 0;

    while (!list_is_empty(&h->failures) && !next) {
        struct http_request *r =
            CONTAINER_OF(h->failures.next, struct http_request, failure);
        if (r->forgive_ns > now)
            next = r->forgive_ns;
        else
            http_request_resume(r);
    }
    reactor_set_timer(&h->sv->reactor, t, next);
}

/* --- beginning and end */

/* The configuration has been checked: the text is an IPv4 or IPv6 address. */
static socklen_t
http_address_of(const struct config *c, struct sockaddr_storage *ret)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;

    *ret = (struct sockaddr_storage){0};
    if (inet_pton(AF_INET, c->http_address, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)c->http_port);
        return sizeof *v4;
    }
    (void)inet_pton(AF_INET6, c->http_address, &v6->sin6_addr);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons((uint16_t)c->http_port);
    return sizeof *v6;
}

/* The socket is created here, not by libmicrohttpd, so that errors name the
 * address and the port. */
static int
http_listen_hfd(const struct config *c)
{
    struct sockaddr_storage a;
    socklen_t len = http_address_of(c, &a);
    const int on = 1;

    int hfd =
        socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (hfd < 0)
        return -errno;
    (void)setsockopt(hfd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(hfd, (struct sockaddr *)&a, len) == 0 &&
        listen(hfd, SOMAXCONN) == 0)
        return hfd;
    int r = -errno;
    (void)close(hfd);
    return r;
}

/* Starts the daemon, which owns the descriptor from then on. Twice the limit of
 * connections: one for each kind, and some that are being closed. */
static int
http_start(struct http *h, int hfd)
{
    unsigned connections =
        2 * h->sv->config->http_connections + SPARE_CONNECTIONS;

    h->daemon = h->mhd.start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
        http_request_handle, h, MHD_OPTION_LISTEN_SOCKET, hfd,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
        MHD_OPTION_NOTIFY_COMPLETED, http_request_completed, h,
        MHD_OPTION_NOTIFY_CONNECTION, http_on_connection, h, MHD_OPTION_END);
    if (!h->daemon)
        return -EIO;
    const union MHD_DaemonInfo *info =
        h->mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return reactor_add_late(&h->sv->reactor, &h->source, info->epoll_fd,
                            EPOLLIN);
}

/* libmicrohttpd is loaded here, so that a missing library is an error only for
 * users of HTTP. */
static int
http_load(struct http *h, struct buf *errors)
{
    int r = mhd_load(&h->mhd);

    if (r != 0)
        return config_refuse(errors, "", "http",
                             r == -ENOENT
                                 ? "libmicrohttpd.so.12 is not installed"
                                 : "libmicrohttpd is too old");
    return tokens_read(&h->tokens, h->sv->config->http_tokens_file, errors);
}

/* Errors are collected as lines, like those of the configuration. */
static int
http_open_server(struct http *h, struct buf *errors)
{
    const struct config *c = h->sv->config;

    int r = http_load(h, errors);
    if (r != 0)
        return r;
    int hfd = http_listen_hfd(c);
    if (hfd < 0)
        return config_refuse(errors, "", "http", "%s, port %u: %s",
                             c->http_address, c->http_port, strerror(-hfd));
    r = http_start(h, hfd);
    if (!h->daemon)
        (void)close(hfd);
    return r == 0 ? 0
                  : config_refuse(errors, "", "http", "the server: %s",
                                  strerror(-r));
}

/* All members are valid before anything can fail, so that http_free can be
 * called at any point. */
int
http_new(struct supervisor *sv, struct buf *errors, struct http **ret)
{
    CLEANUP(http_freep) struct http *h = calloc(1, sizeof *h);

    if (!h)
        return -ENOMEM;
    *h = (struct http){.sv = sv,
                       .source = {.hfd = -1, .ready = http_on_ready},
                       .again.fire = http_on_again,
                       .sweep.fire = http_on_sweep,
                       .forgive.fire = http_on_forgive};
    list_init(&h->again.link);
    list_init(&h->sweep.link);
    list_init(&h->forgive.link);
    list_init(&h->conns);
    list_init(&h->failures);
    int r = http_open_server(h, errors);
    if (r == 0)
        *ret = STEAL(h);
    return r;
}

/* A daemon must not be stopped with suspended connections. They are resumed,
 * and get a few turns to end. */
static void
http_stop(struct http *h)
{
    LIST_FOR_EACH(it, &h->conns) {
        struct conn *c = CONTAINER_OF(it, struct conn, link);
        if (c->request)
            http_request_abandon(c->request);
    }
    for (int i = 0; i < LAST_STEPS; i++)
        (void)h->mhd.run(h->daemon);
    h->mhd.stop_daemon(h->daemon);
}

/* The clients of the requests must be gone, because they refer to this
 * object. */
void
http_free(struct http *h)
{
    if (!h)
        return;
    reactor_remove(&h->sv->reactor, &h->source);
    if (h->daemon)
        http_stop(h);
    reactor_set_timer(&h->sv->reactor, &h->again, 0);
    reactor_set_timer(&h->sv->reactor, &h->sweep, 0);
    reactor_set_timer(&h->sv->reactor, &h->forgive, 0);
    tokens_fini(&h->tokens);
    free(h);
}

int
http_port(const struct http *h)
{
    const union MHD_DaemonInfo *info =
        h->mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);

    return info->port;
}

/* --- figures */

static const char *const path_names[] = {
    [PATH_rpc] = "/rpc",
    [PATH_health] = "/health",
    [PATH_metrics] = "/metrics",
    [PATH_other] = "other",
};

/* Dropped connections are counted by reason, to tell a flood from slow
 * clients. */
void
http_put_metrics(const struct http *h, struct buf *b)
{
    static const char *const codes[] = {
#define X(code) [STATUS_##code] = #code,
        HTTP_STATUSES(X)
#undef X
    };

    metrics_family(b, "http_connections", "gauge", "Connections of HTTP.");
    metrics_value(b, "http_connections", NULL, h->n_conns);
    metrics_family(b, "http_connections_total", "counter",
                   "HTTP connections since the start.");
    metrics_value(b, "http_connections_total", NULL, h->accepted);
    metrics_family(
        b, "http_connections_dropped_total", "counter",
        "Connections closed in favour of others, or for being too slow.");
    metrics_value(b, "http_connections_dropped_total", "reason=\"evicted\"",
                  h->evicted);
    metrics_value(b, "http_connections_dropped_total", "reason=\"slow\"",
                  h->expired);
    metrics_family(b, "http_requests_total", "counter",
                   "HTTP requests by path and status.");
    for (int i = 0; i < N_PATHS * N_STATUSES; i++) {
        uint64_t n = h->answered[i / N_STATUSES][i % N_STATUSES];
        char labels[64];
        (void)snprintf(labels, sizeof labels, "path=\"%s\",code=\"%s\"",
                       path_names[i / N_STATUSES], codes[i % N_STATUSES]);
        if (n)
            metrics_value(b, "http_requests_total", labels, n);
    }
}

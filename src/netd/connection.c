/* The policy decides three times. It decides about the name before a lookup,
 * and about each address of the name. When the connection is open, it decides
 * again, because it may have changed meanwhile. */
#include "netd/connection.h"

#include "base/hfd.h"
#include "base/os_time.h"
#include "netd/broker.h"
#include "netd/traffic.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define STAGGER_NS  (250 * NS_PER_MS)
#define DEADLINE_NS (30 * NS_PER_S)
#define NS_NEVER    INT64_MAX

/* Reports the end of an open connection. */
static void
connection_report_end(struct connection *c, enum message_close_cause cause)
{
    struct traffic t = traffic_of(c->hfd);
    struct message_report r = {
        .kind = REPORT_CLOSE,
        .connection = c->number,
        .reason =
            cause == CLOSE_GUEST && t.peer_has_closed ? CLOSE_PEER : cause,
        .ms = (uint32_t)((time_mono_ns() - c->since_ns) / NS_PER_MS),
        .ip = c->peer,
        .port = c->request.port,
        .name_len = c->request.name_len,
        .sent = t.sent,
        .received = t.received,
    };

    memcpy(r.name, c->request.name, sizeof r.name);
    c->broker->closed_bytes += t.sent + t.received;
    broker_report(c->broker, &r);
}

static void
connection_free(struct connection *c, enum message_close_cause cause)
{
    if (c->hfd >= 0)
        connection_report_end(c, cause);
    for (size_t i = 0; i < RESOLVER_ADDRESSES_MAX; i++)
        hfd_closep(&c->attempt[i]);
    hfd_closep(&c->hfd);
    free(c->first);
    list_remove(&c->link);
    c->broker->n_connections--;
    free(c);
}

/* A query cannot be cancelled: its answer frees the connection. */
void
connection_close(struct connection *c)
{
    if (c && c->is_resolving)
        c->is_closed = true;
    else if (c)
        connection_free(c, CLOSE_GUEST);
}

struct connection *
connection_find(struct broker *b, uint32_t id)
{
    LIST_FOR_EACH(it, &b->connections) {
        struct connection *c = CONTAINER_OF(it, struct connection, link);
        if (c->request.id == id && !c->is_closed)
            return c;
    }
    return NULL;
}

static void
connection_refuse(struct broker *b, const struct message_request *q, int error,
                  enum verdict v)
{
    const struct message_answer a = {ANSWER_CONNECT, q->id, error, v};

    if (v != VERDICT_ALLOWED)
        broker_report_denied(b, q, v);
    broker_answer(b, &a, -1);
}

static void
connection_fail(struct connection *c, int error, enum verdict v)
{
    connection_refuse(c->broker, &c->request, error, v);
    connection_free(c, CLOSE_GUEST);
}

static enum verdict
connection_decide(const struct connection *c, const struct in6_addr *ip)
{
    return broker_judge(c->broker, &c->request, ip);
}

/* --- attempts */

/* Begins to connect. Returns the descriptor or -errno. */
static int
connection_dial(const struct in6_addr *ip, uint16_t port)
{
    bool is_v4 = address_is_v4(ip);
    struct sockaddr_in6 six = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = *ip};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    const struct sockaddr *to =
        is_v4 ? (const struct sockaddr *)&four : (const struct sockaddr *)&six;
    socklen_t len = is_v4 ? sizeof four : sizeof six;

    memcpy(&four.sin_addr, ip->s6_addr + 12, sizeof four.sin_addr);
    int hfd = socket(is_v4 ? AF_INET : AF_INET6,
                     SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (hfd < 0)
        return -errno;
    if (connect(hfd, to, len) == 0 || errno == EINPROGRESS)
        return hfd;
    int r = -errno;
    close(hfd);
    return r;
}

static bool
connection_is_trying(const struct connection *c)
{
    for (size_t i = 0; i < c->next; i++)
        if (c->attempt[i] >= 0)
            return true;
    return false;
}

/* Begins the next attempt that can begin. Frees c if none is left. */
static void
connection_try_next(struct connection *c, int64_t now_ns)
{
    while (c->next < c->n) {
        int hfd = connection_dial(&c->ip[c->next], c->request.port);
        c->attempt[c->next++] = hfd < 0 ? -1 : hfd;
        c->next_ns = now_ns + STAGGER_NS;
        if (hfd >= 0)
            return;
        c->error = -hfd;
    }
    if (!connection_is_trying(c))
        connection_fail(c, c->error, VERDICT_ALLOWED);
}

/* Segments of the guest are sent at once: the guest's kernel has no timer that
 * could collect them. */
static void
connection_tune(int hfd, uint64_t rate)
{
    const int on = 1;

    if (rate)
        traffic_limit(hfd, rate);
    (void)setsockopt(hfd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(hfd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

static void
connection_report_open(struct connection *c)
{
    int64_t now_ns = time_mono_ns();
    struct message_report r = {
        .kind = REPORT_OPEN,
        .connection = c->number,
        .ms = (uint32_t)((now_ns - c->since_ns) / NS_PER_MS),
        .ip = c->peer,
        .port = c->request.port,
        .name_len = c->request.name_len,
    };

    memcpy(r.name, c->request.name, sizeof r.name);
    c->since_ns = now_ns;
    broker_report(c->broker, &r);
}

static void
connection_open(struct connection *c, size_t i)
{
    const struct message_answer a = {ANSWER_CONNECT, c->request.id, 0, 0};
    enum verdict v = connection_decide(c, &c->ip[i]);

    if (v != VERDICT_ALLOWED) {
        connection_fail(c, EACCES, v);
        return;
    }
    c->hfd = c->attempt[i];
    c->attempt[i] = -1;
    c->peer = c->ip[i];
    for (size_t k = 0; k < c->next; k++)
        hfd_closep(&c->attempt[k]);
    c->n = c->next = 0;
    c->number = ++c->broker->n_opened;
    connection_tune(c->hfd, c->broker->limits.rate);
    connection_report_open(c);
    if (broker_checks_tls(c->broker, &c->request, &c->peer))
        first_want(c);
    else
        broker_answer(c->broker, &a, c->hfd);
}

/* Returns the error of an attempt whose descriptor is ready. */
static int
connection_result(int hfd)
{
    socklen_t len = sizeof(int);
    int error = 0;

    return getsockopt(hfd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 ? errno
                                                                   : error;
}

size_t
connection_fill(const struct connection *c, struct pollfd *v)
{
    size_t n = 0;

    if (c->is_first)
        v[n++] = (struct pollfd){.fd = c->hfd, .events = POLLIN};
    for (size_t i = 0; i < c->next; i++)
        if (c->attempt[i] >= 0)
            v[n++] = (struct pollfd){.fd = c->attempt[i], .events = POLLOUT};
    return n;
}

void
connection_run(struct connection *c, const struct pollfd *v, int64_t now_ns)
{
    bool has_failed = false;

    if (c->is_first) {
        first_run(c, v, now_ns);
        return;
    }
    if (!c->next)
        return;
    for (size_t i = 0; i < c->next; i++) {
        if (c->attempt[i] < 0 || !(v++)->revents)
            continue;
        int error = connection_result(c->attempt[i]);
        if (!error) {
            connection_open(c, i);
            return;
        }
        c->error = error;
        hfd_closep(&c->attempt[i]);
        has_failed = true;
    }
    if (now_ns >= c->deadline_ns)
        connection_fail(c, ETIMEDOUT, VERDICT_ALLOWED);
    else if (has_failed || (c->next < c->n && now_ns >= c->next_ns))
        connection_try_next(c, now_ns);
}

int64_t
connection_due_ns(const struct connection *c)
{
    if (c->is_first)
        return c->deadline_ns;
    if (!c->next)
        return NS_NEVER;
    return c->next < c->n && c->next_ns < c->deadline_ns ? c->next_ns
                                                         : c->deadline_ns;
}

/* --- the beginning and the end */

/* Keeps the addresses that the policy allows. Without any, the connection is
 * denied for the reason of the first. */
static void
connection_resolved(void *arg, const struct resolver_answer *a)
{
    struct connection *c = arg;
    enum verdict first = VERDICT_ALLOWED;

    c->is_resolving = false;
    if (c->is_closed) {
        connection_free(c, CLOSE_GUEST);
        return;
    }
    for (size_t i = 0; i < a->n; i++) {
        enum verdict v = connection_decide(c, &a->ip[i]);
        if (v == VERDICT_ALLOWED)
            c->ip[c->n++] = a->ip[i];
        else if (first == VERDICT_ALLOWED)
            first = v;
    }
    if (c->n)
        connection_try_next(c, time_mono_ns());
    else
        connection_fail(c, a->error ? EHOSTUNREACH : EACCES, first);
}

static OWN struct connection *
connection_new(struct broker *b, const struct message_request *q)
{
    struct connection *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    *c = (struct connection){.broker = b, .request = *q, .hfd = -1};
    for (size_t i = 0; i < RESOLVER_ADDRESSES_MAX; i++)
        c->attempt[i] = -1;
    c->since_ns = time_mono_ns();
    c->deadline_ns = c->since_ns + DEADLINE_NS;
    list_push_back(&b->connections, &c->link);
    b->n_connections++;
    return c;
}

/* Returns the limit that a new connection would exceed, or VERDICT_ALLOWED. */
static enum verdict
connection_limit(struct broker *b)
{
    if (b->is_spent)
        return VERDICT_BYTES;
    if (b->n_connections >= b->limits.connections)
        return VERDICT_CONNECTIONS;
    return bucket_take(&b->connects, time_mono_ns()) ? VERDICT_ALLOWED
                                                     : VERDICT_CONNECTS;
}

void
connection_start(struct broker *b, const struct message_request *q)
{
    enum verdict v =
        q->name_len ? broker_judge_name(b, q) : broker_judge(b, q, &q->ip);

    if (v != VERDICT_ALLOWED) {
        connection_refuse(b, q, EACCES, v);
        return;
    }
    v = connection_limit(b);
    struct connection *c = v == VERDICT_ALLOWED ? connection_new(b, q) : NULL;
    if (!c) {
        connection_refuse(b, q, v == VERDICT_BYTES ? ENETDOWN : ENOBUFS, v);
        return;
    }
    c->is_resolving = true;
    if (q->name_len) {
        resolver_find(&b->resolver, c->request.name, connection_resolved, c);
        return;
    }
    const struct resolver_answer literal = {.n = 1, .ip = {q->ip}};
    connection_resolved(c, &literal);
}

/* The reason is sent first: the sandbox looks for it when it finds the
 * connection ended. */
void
connection_revoke(struct connection *c, enum verdict v)
{
    const struct message_answer a = {ANSWER_ENDED, c->request.id,
                                     v == VERDICT_BYTES ? ENETDOWN : EACCES, v};

    broker_answer(c->broker, &a, -1);
    (void)shutdown(c->hfd, SHUT_RDWR);
    connection_free(c, v == VERDICT_BYTES ? CLOSE_LIMIT : CLOSE_POLICY);
}

void
connection_lose(struct connection *c, int error, enum message_close_cause cause)
{
    const struct message_answer a = {ANSWER_ENDED, c->request.id, error,
                                     VERDICT_ALLOWED};

    broker_answer(c->broker, &a, -1);
    connection_free(c, cause);
}

/* Connections in progress are judged when they open. */
void
connection_review(struct connection *c)
{
    enum verdict v =
        c->hfd < 0 ? VERDICT_ALLOWED : connection_decide(c, &c->peer);

    if (v != VERDICT_ALLOWED)
        connection_revoke(c, v);
    else if (c->hfd >= 0)
        traffic_limit(c->hfd, c->broker->limits.rate ? c->broker->limits.rate
                                                     : UINT64_MAX);
}

uint64_t
connection_bytes(const struct connection *c)
{
    struct traffic t = {0};

    if (c->hfd >= 0)
        t = traffic_of(c->hfd);
    return t.sent + t.received;
}

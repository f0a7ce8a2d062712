/* The loop of the broker, and the order of its messages.
 *
 * Requests, policies and answers travel on sockets that keep the order of
 * packets, but requests and policies are on two of them. A policy that was set
 * before a request must decide about it, so the loop reads all policies between
 * the arrival of a request and its decision (broker_read_requests).
 *
 * Answers come in the order in which lookups and connections end, not in that
 * of the requests: a slow name server must not delay other hosts. Each answer
 * has the number of its request, and a number is not used again while its
 * connection exists.
 *
 * Everything that is malformed or breaks the protocol ends the broker. The
 * sandbox has then lost its connections, and nothing else. */
#include "netd/broker.h"

#include "base/os_time.h"
#include "netd/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    QUERIES_MAX = 64, /* lookups in progress */
    TURN_REQUESTS = 64,
    FIXED_POLLED = 2 + RESOLVER_SOCKETS_MAX,
    WAIT_MAX_MS = 60 * 1000,
    /* While no policy was set. */
    RATE_INITIAL = 1,
    BYTES_CHECK_MS = 250,
};

/* A lookup in progress. */
struct broker_query {
    struct list link;
    struct broker *broker;
    uint32_t id;
};

int
broker_init(struct broker *b, int requests_hfd, int policy_hfd,
            const char *servers)
{
    size_t n =
        FIXED_POLLED + (size_t)MESSAGE_CONNECTIONS_MAX * RESOLVER_ADDRESSES_MAX;

    *b =
        (struct broker){.requests_hfd = requests_hfd, .policy_hfd = policy_hfd};
    policy_init(&b->policy);
    policy_init(&b->maximum);
    b->used_ns = time_mono_ns();
    list_init(&b->connections);
    list_init(&b->queries);
    bucket_init(&b->connects, RATE_INITIAL, time_mono_ns());
    bucket_init(&b->lookups, RATE_INITIAL, time_mono_ns());
    b->polled = calloc(n, sizeof *b->polled);
    b->message = malloc(MESSAGE_POLICY_BYTES_MAX);
    return b->polled && b->message ? resolver_init(&b->resolver, servers)
                                   : -ENOMEM;
}

void
broker_fini(struct broker *b)
{
    LIST_FOR_EACH_SAFE(it, &b->connections)
        connection_close(CONTAINER_OF(it, struct connection, link));
    resolver_fini(&b->resolver);
    policy_fini(&b->policy);
    policy_fini(&b->maximum);
    free(b->polled);
    free(b->message);
}

/* The send waits for a sandbox that does not read, up to the time limit of the
 * socket. Such a sandbox loses its broker. */
void
broker_answer(struct broker *b, const struct message_answer *a, int hfd)
{
    struct iovec iov = {(void *)(uintptr_t)a, sizeof *a};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof hfd)];
    } control = {0};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t n;

    if (hfd >= 0) {
        control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof hfd),
                                        .cmsg_level = SOL_SOCKET,
                                        .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.head), &hfd, sizeof hfd);
        m.msg_control = &control;
        m.msg_controllen = sizeof control;
    }
    do
        n = sendmsg(b->requests_hfd, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        b->is_over = true;
}

/* The owner may be slow or not interested. Its connections must not wait for
 * it, so a report that does not fit is dropped. */
void
broker_report(struct broker *b, const struct message_report *r)
{
    if (b->limits.reports)
        (void)send(b->policy_hfd, r, sizeof *r, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void
broker_report_denied(struct broker *b, const struct message_request *q,
                     enum verdict v)
{
    struct message_report r = {.kind = REPORT_DENY,
                               .reason = v,
                               .ip = q->ip,
                               .port = q->port,
                               .name_len = q->name_len};

    memcpy(r.name, q->name, sizeof r.name);
    broker_report(b, &r);
}

/* --- decisions */

static struct policy_target
broker_target(const struct message_request *q, const struct in6_addr *ip)
{
    return (struct policy_target){q->name_len ? q->name : NULL, q->name_len,
                                  *ip, q->port};
}

enum verdict
broker_judge(const struct broker *b, const struct message_request *q,
             const struct in6_addr *ip)
{
    const struct policy_target t = broker_target(q, ip);
    const struct rule *rule;
    enum verdict v = policy_decide(&b->policy, &t, &rule);

    if (v == VERDICT_ALLOWED && b->has_maximum &&
        policy_decide(&b->maximum, &t, &rule) != VERDICT_ALLOWED)
        v = VERDICT_MAXIMUM;
    return v;
}

static bool
broker_policy_checks(const struct policy *p, const struct policy_target *t)
{
    const struct rule *rule;

    return policy_decide(p, t, &rule) == VERDICT_ALLOWED &&
           rule_checks_tls(rule, t->port);
}

/* The mark +raw of a sandbox does not override a maximum without it. */
bool
broker_checks_tls(const struct broker *b, const struct message_request *q,
                  const struct in6_addr *ip)
{
    const struct policy_target t = broker_target(q, ip);

    return broker_policy_checks(&b->policy, &t) ||
           (b->has_maximum && broker_policy_checks(&b->maximum, &t));
}

enum verdict
broker_judge_name(const struct broker *b, const struct message_request *q)
{
    enum verdict v =
        policy_decide_name(&b->policy, q->name, q->name_len, q->port);

    if (v == VERDICT_ALLOWED && b->has_maximum &&
        policy_decide_name(&b->maximum, q->name, q->name_len, q->port) !=
            VERDICT_ALLOWED)
        v = VERDICT_MAXIMUM;
    return v;
}

/* --- lookups */

static void
broker_answer_lookup(struct broker *b, uint32_t id, int error, enum verdict v)
{
    const struct message_answer a = {ANSWER_LOOKUP, id, error, v};

    broker_answer(b, &a, -1);
}

static void
broker_looked_up(void *arg, const struct resolver_answer *a)
{
    struct broker_query *q = arg;

    if (!q->broker->is_over)
        broker_answer_lookup(q->broker, q->id, a->error, VERDICT_ALLOWED);
    list_remove(&q->link);
    q->broker->n_queries--;
    free(q);
}

/* A denied name exists: the sandbox learns of the refusal when it connects, and
 * nothing was sent to a name server. */
static void
broker_lookup(struct broker *b, const struct message_request *m)
{
    struct broker_query *q = NULL;

    if (broker_judge_name(b, m) != VERDICT_ALLOWED) {
        broker_answer_lookup(b, m->id, 0, VERDICT_ALLOWED);
        return;
    }
    if (b->n_queries < QUERIES_MAX && bucket_take(&b->lookups, time_mono_ns()))
        q = calloc(1, sizeof *q);
    if (!q) {
        broker_report_denied(b, m, VERDICT_LOOKUPS);
        broker_answer_lookup(b, m->id, EAGAIN, VERDICT_LOOKUPS);
        return;
    }
    *q = (struct broker_query){.broker = b, .id = m->id};
    list_push_back(&b->queries, &q->link);
    b->n_queries++;
    resolver_find(&b->resolver, m->name, broker_looked_up, q);
}

/* --- messages */

static void
broker_handle(struct broker *b, const struct message_request *q)
{
    struct connection *c = connection_find(b, q->id);

    switch ((enum message_request_kind)q->kind) {
    case REQUEST_CONNECT:
        if (c)
            b->is_over = true; /* the number is in use */
        else
            connection_start(b, q);
        break;
    case REQUEST_LOOKUP:
        broker_lookup(b, q);
        break;
    case REQUEST_CLOSE:
        connection_close(c);
        break;
    case REQUEST_FIRST:
        if (c && !c->is_first)
            b->is_over = true; /* nobody has asked for them */
        else if (c)
            first_take(c, q);
        break;
    }
}

/* Reads lines of rules, which were checked by the owner. */
static bool
broker_parse_rules(const char *at, size_t len, bool host_loopback,
                   struct policy *ret)
{
    const char *end = at + len, *reason, *line;

    policy_init(ret);
    ret->host_loopback = host_loopback;
    for (; (line = memchr(at, '\n', (size_t)(end - at))); at = line + 1)
        if (policy_add(ret, at, (size_t)(line - at), &reason) < 0) {
            policy_fini(ret);
            return false;
        }
    return true;
}

static void
broker_take_limits(struct broker *b, const struct message_policy *m)
{
    b->limits = *m;
    b->has_maximum = m->maximum_len;
    b->is_spent = false;
    bucket_init(&b->connects, m->connects, time_mono_ns());
    bucket_init(&b->lookups, m->lookups, time_mono_ns());
}

/* Builds the new policy before it replaces the old one. */
static bool
broker_set_policy(struct broker *b, const struct message_policy *m, size_t len)
{
    const char *rules = (const char *)(m + 1);
    struct policy p, maximum;

    if (!message_policy_is_valid(m, len) ||
        !broker_parse_rules(rules, m->rules_len, m->host_loopback, &p))
        return false;
    if (!broker_parse_rules(rules + m->rules_len, m->maximum_len,
                            m->host_loopback, &maximum)) {
        policy_fini(&p);
        return false;
    }
    policy_fini(&b->policy);
    policy_fini(&b->maximum);
    b->policy = p;
    b->maximum = maximum;
    broker_take_limits(b, m);
    LIST_FOR_EACH_SAFE(it, &b->connections)
        connection_review(CONTAINER_OF(it, struct connection, link));
    return true;
}

/* Reads all that were sent; the last one counts. */
static void
broker_read_policy(struct broker *b)
{
    while (!b->is_over) {
        ssize_t n = recv(b->policy_hfd, b->message, MESSAGE_POLICY_BYTES_MAX,
                         MSG_DONTWAIT | MSG_TRUNC);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0 || !broker_set_policy(b, b->message, (size_t)n))
            b->is_over = true;
    }
}

/* A policy that was sent before a request decides about it. The two sockets
 * have no common order, so the policy is read after each request has arrived
 * and before it is handled. */
static void
broker_read_requests(struct broker *b)
{
    struct message_request q;

    for (int i = 0; i < TURN_REQUESTS && !b->is_over; i++) {
        ssize_t n =
            recv(b->requests_hfd, &q, sizeof q, MSG_DONTWAIT | MSG_TRUNC);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0 || !message_request_is_valid(&q, (size_t)n))
            b->is_over = true;
        broker_read_policy(b);
        b->used_ns = time_mono_ns();
        if (!b->is_over)
            broker_handle(b, &q);
    }
}

/* --- the loop */

/* Returns the number of descriptors; *ret_fixed is that of the ones before the
 * attempts. */
static size_t
broker_fill(struct broker *b, size_t *ret_fixed)
{
    struct pollfd *v = b->polled;
    size_t n = 0;

    v[n++] = (struct pollfd){.fd = b->policy_hfd, .events = POLLIN};
    v[n++] = (struct pollfd){.fd = b->requests_hfd, .events = POLLIN};
    n += resolver_fill(&b->resolver, v + n);
    *ret_fixed = n;
    LIST_FOR_EACH(it, &b->connections)
        n += connection_fill(CONTAINER_OF(it, struct connection, link), v + n);
    return n;
}

/* --- limits by time */

static bool
broker_is_used(const struct broker *b)
{
    return b->n_connections || b->n_queries;
}

/* Ends all connections when the limit of bytes is reached. The host's kernel
 * counts, and a compromised sandbox cannot hide anything from it. */
static void
broker_check_bytes(struct broker *b)
{
    uint64_t total = b->closed_bytes;

    if (!b->limits.bytes || b->is_spent)
        return;
    LIST_FOR_EACH(it, &b->connections)
        total += connection_bytes(CONTAINER_OF(it, struct connection, link));
    if (total < b->limits.bytes)
        return;
    b->is_spent = true;
    LIST_FOR_EACH_SAFE(it, &b->connections) {
        struct connection *c = CONTAINER_OF(it, struct connection, link);
        if (c->hfd >= 0)
            connection_revoke(c, VERDICT_BYTES);
    }
}

static void
broker_check_idle(struct broker *b, int64_t now_ns)
{
    int64_t idle_ns = b->limits.idle_s * NS_PER_S;

    if (!idle_ns || broker_is_used(b) || now_ns < b->used_ns + idle_ns)
        return;
    b->is_over = b->is_idle = true;
}

static int64_t
broker_wait_ns(const struct broker *b)
{
    int64_t idle_ns = b->limits.idle_s * NS_PER_S;

    if (b->limits.bytes && b->n_connections)
        return BYTES_CHECK_MS * NS_PER_MS;
    if (idle_ns && !broker_is_used(b) && idle_ns < WAIT_MAX_MS * NS_PER_MS)
        return idle_ns;
    return WAIT_MAX_MS * NS_PER_MS;
}

static int
broker_timeout_ms(struct broker *b)
{
    int64_t now = time_mono_ns(), due = now + broker_wait_ns(b);

    LIST_FOR_EACH(it, &b->connections) {
        int64_t at =
            connection_due_ns(CONTAINER_OF(it, struct connection, link));
        if (at < due)
            due = at;
    }
    int ms = due > now ? (int)((due - now) / NS_PER_MS) + 1 : 0;
    return resolver_timeout_ms(&b->resolver, ms);
}

/* Connections come before messages: a message may add or remove some, and the
 * poll set would not fit them any more. */
static void
broker_turn(struct broker *b)
{
    size_t fixed, n = broker_fill(b, &fixed);
    const struct pollfd *v = b->polled + fixed;

    if (poll(b->polled, n, broker_timeout_ms(b)) < 0)
        return;
    int64_t now = time_mono_ns();
    LIST_FOR_EACH_SAFE(it, &b->connections) {
        struct connection *c = CONTAINER_OF(it, struct connection, link);
        struct pollfd unused[RESOLVER_ADDRESSES_MAX];
        size_t used = connection_fill(c, unused);
        connection_run(c, v, now);
        v += used;
    }
    resolver_run(&b->resolver, b->polled + 2, fixed - 2);
    if (b->polled[0].revents)
        broker_read_policy(b);
    if (b->polled[1].revents && !b->is_over)
        broker_read_requests(b);
    broker_check_bytes(b);
    broker_check_idle(b, now);
}

void
broker_end_connections(struct broker *b)
{
    LIST_FOR_EACH(it, &b->connections) {
        struct connection *c = CONTAINER_OF(it, struct connection, link);
        if (c->hfd >= 0)
            (void)shutdown(c->hfd, SHUT_RDWR);
    }
}

void
broker_run(struct broker *b)
{
    while (!b->is_over)
        broker_turn(b);
}

/* Connections to previews: from the head of a request to the last byte.
 *
 * A connection reads one request. If its token is valid, the session is resumed
 * where needed, and the worker gets one end of a socket pair as a connection to
 * the port. Then bytes are copied between the pair and the client, in both
 * directions. The copy costs little beside the sandbox, and it makes the head
 * ours: the worker never gets a connection of a client. */
#include "supervisor/front/preview_impl.h"

#include "base/hfd.h"
#include "base/parse.h"
#include "supervisor/config/config.h"
#include "supervisor/session/life.h"
#include "supervisor/session/session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

void
preview_free(struct preview *p)
{
    struct reactor *r = &p->all->sv->reactor;

    reactor_remove(r, &p->outer);
    reactor_remove(r, &p->inner);
    reactor_set_timer(r, &p->deadline, 0);
    if (p->wake)
        p->wake->preview = NULL;
    hfd_closep(&p->outer_hfd);
    hfd_closep(&p->inner_hfd);
    list_remove(&p->link);
    p->all->sv->previews.connections--;
    buf_fini(&p->head);
    free(p);
}

/* --- copying */

/* Reads into the empty buffer of a flow. Returns false if there is nothing to
 * read now. */
static bool
preview_flow_fill(struct preview_flow *f, int hfd)
{
    size_t max = f->left < sizeof f->bytes ? (size_t)f->left : sizeof f->bytes;
    ssize_t n = recv(hfd, f->bytes, max, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) { /* a reset is an end, too */
        f->has_ended = true;
        return false;
    }
    f->at = 0;
    f->len = (size_t)n;
    f->left -= (uint64_t)n;
    f->total += (uint64_t)n;
    return true;
}

/* Returns false if the receiver takes no more now. */
static bool
preview_flow_drain(struct preview_flow *f, int hfd)
{
    ssize_t n =
        send(hfd, f->bytes + f->at, f->len, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n < 0) {
        f->has_failed = true;
        return false;
    }
    f->at += (size_t)n;
    f->len -= (size_t)n;
    return true;
}

/* Copies as much as possible, but not for ever: other connections wait. */
static void
preview_flow_copy(struct preview_flow *f, int from, int to)
{
    for (int i = 0; i < PREVIEW_TURNS && !f->has_failed; i++) {
        if (!f->len && (f->has_ended || !f->left))
            return;
        if (!(f->len ? preview_flow_drain(f, to) : preview_flow_fill(f, from)))
            return;
    }
}

static bool
preview_flow_reads(const struct preview_flow *f)
{
    return !f->len && !f->has_ended && f->left;
}

/* The inner source leaves the loop while nothing is expected from it: its end
 * would be reported again and again while the client has not read
 * everything. */
static void
preview_watch(struct preview *p)
{
    struct reactor *r = &p->all->sv->reactor;
    uint32_t outer = (preview_flow_reads(&p->up) ? EPOLLIN : 0) |
                     (p->down.len ? EPOLLOUT : 0);
    uint32_t inner = (preview_flow_reads(&p->down) ? EPOLLIN : 0) |
                     (p->up.len ? EPOLLOUT : 0);

    reactor_change(r, &p->outer, outer);
    if (p->inner_hfd < 0)
        return;
    if (p->inner.hfd < 0 && inner)
        (void)reactor_add_late(r, &p->inner, p->inner_hfd, inner);
    else if (!inner)
        reactor_remove(r, &p->inner);
    else
        reactor_change(r, &p->inner, inner);
}

/* Closes a connection whose answer was sent. With unread input, a close would
 * reset the connection, and the client could lose the end of the answer.
 * Therefore input is discarded until the client closes, for a short time. */
static void
preview_linger(struct preview *p)
{
    struct reactor *r = &p->all->sv->reactor;

    reactor_remove(r, &p->inner);
    hfd_closep(&p->inner_hfd);
    p->is_lingering = true;
    p->is_trusted = false; /* it may make way for others */
    (void)shutdown(p->outer_hfd, SHUT_WR);
    reactor_set_timer(r, &p->deadline,
                      time_mono_ns() + PREVIEW_LINGER_S * NS_PER_S);
    reactor_change(r, &p->outer, EPOLLIN);
}

static void
preview_discard(struct preview *p)
{
    ssize_t n =
        recv(p->outer_hfd, p->up.bytes, sizeof p->up.bytes, MSG_DONTWAIT);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        preview_free(p);
}

/* A server that ends without a byte is none: nothing listens on the port. */
static void
preview_relay(struct preview *p)
{
    if (p->inner_hfd >= 0)
        preview_flow_copy(&p->up, p->outer_hfd, p->inner_hfd);
    preview_flow_copy(&p->down, p->inner_hfd, p->outer_hfd);
    if (p->down.has_ended && !p->down.total) {
        preview_answer(p, 502, "port is not open");
        return;
    }
    if (p->down.has_failed) {
        preview_free(p);
        return;
    }
    if (p->down.has_ended && !p->down.len) {
        preview_linger(p);
        return;
    }
    if (p->up.has_failed) /* the server reads no more, but may answer */
        p->up.len = p->up.left = 0;
    if (p->up.has_ended && !p->up.len && p->inner_hfd >= 0)
        (void)shutdown(p->inner_hfd, SHUT_WR);
    preview_watch(p);
}

/* --- answers of our own */

/* Queues an answer, after which the connection is closed. */
static void
preview_answer_text(struct preview *p, const struct buf *b)
{
    struct reactor *r = &p->all->sv->reactor;

    reactor_remove(r, &p->inner);
    hfd_closep(&p->inner_hfd);
    p->up = (struct preview_flow){0};
    p->down.at = 0;
    p->down.len = b->error || b->len > sizeof p->down.bytes ? 0 : b->len;
    memcpy(p->down.bytes, b->p, p->down.len);
    p->down.total = 1; /* this is an answer, even if it is empty */
    p->down.has_ended = true;
    reactor_set_timer(r, &p->deadline,
                      time_mono_ns() +
                          p->all->sv->config->http_request_s * NS_PER_S);
    preview_relay(p);
}

void
preview_answer(struct preview *p, int status, const char *text)
{
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, PREVIEW_FLOW_BYTES);
    buf_printf(&b,
               "HTTP/1.1 %d \r\nContent-Type: text/plain\r\n"
               "Content-Length: %zu\r\nConnection: close\r\n\r\n%s\n",
               status, strlen(text) + 1, text);
    p->all->sv->previews.refused++;
    preview_answer_text(p, &b);
}

/* The token moves from the address to a cookie, so that pages, bookmarks and
 * the Referer of links do not contain it. */
static void
preview_answer_cookie(struct preview *p, const struct preview_head *h)
{
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, PREVIEW_FLOW_BYTES);
    buf_puts(&b, "HTTP/1.1 302 Found\r\nLocation: ");
    preview_head_put_target(h, &b);
    buf_printf(&b,
               "\r\nSet-Cookie: wasmsand-preview=%.*s; Path=/; HttpOnly; "
               "SameSite=Lax\r\nCache-Control: no-store\r\n"
               "Referrer-Policy: no-referrer\r\nContent-Length: 0\r\n"
               "Connection: close\r\n\r\n",
               (int)h->token.len, h->token.p);
    preview_answer_text(p, &b);
}

/* --- to the session */

/* Gives one end of a pair to the worker. */
static int
preview_connect(struct preview *p)
{
    struct session *s = sessions_find(
        p->all->sv, (struct text){p->session, strlen(p->session)});
    int pair[2];

    if (!s || !session_is_serving(s))
        return -ENOTCONN;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                   pair) < 0)
        return -errno;
    life_broker_preview(s->life, p->port, pair[1]);
    (void)close(pair[1]);
    p->inner_hfd = pair[0];
    return 0;
}

/* The head is the first part of the flow to the server; a part of the body
 * may have arrived with it. */
static void
preview_begin_relay(struct preview *p)
{
    p->up.at = 0;
    p->up.len = p->head.len;
    memcpy(p->up.bytes, p->head.p, p->head.len);
    buf_fini(&p->head);
    buf_init(&p->head, PREVIEW_HEAD_BYTES);
    p->down.left = UINT64_MAX;
    p->all->sv->previews.passed++;
    preview_relay(p);
}

void
preview_woken(struct preview *p, const char *error)
{
    p->wake = NULL;
    if (error)
        preview_answer(p, 503, error);
    else if (preview_connect(p) < 0)
        preview_answer(p, 502, "port is not open");
    else
        preview_begin_relay(p);
}

/* --- the request */

/* Reads PORT-SESSION.DOMAIN. */
static bool
preview_take_host(struct preview *p, struct text host)
{
    const char *domain = p->all->sv->config->preview_domain;
    size_t n = strlen(domain), label = host.len - n - 1;
    const char *dash = memchr(host.p, '-', host.len);
    uint64_t port;

    if (host.len < n + 2 || host.p[label] != '.' || !dash ||
        strncasecmp(host.p + label + 1, domain, n) != 0 ||
        label - (size_t)(dash + 1 - host.p) != SESSION_ID_BYTES - 1 ||
        !parse_u64(host.p, (size_t)(dash - host.p), UINT16_MAX, &port))
        return false;
    p->port = (uint16_t)port;
    for (size_t i = 0; i < SESSION_ID_BYTES - 1; i++) {
        char c = dash[1 + i];
        p->session[i] = c >= 'A' && c <= 'F' ? (char)(c | 0x20) : c;
    }
    return true;
}

static bool
preview_is_allowed(const struct preview *p, const struct preview_head *h)
{
    const struct preview_grant g = {.session = p->session, .port = p->port};
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return h->token.p && preview_token_is_valid(&p->all->sv->preview_key, &g,
                                                h->token, now.tv_sec);
}

/* Replaces the received bytes with those for the server: its head, and the
 * bytes of the body that have arrived. */
static bool
preview_rewrite(struct preview *p, const struct preview_head *h, size_t len)
{
    size_t extra = p->head.len - len;
    struct buf b;

    buf_init(&b, PREVIEW_FLOW_BYTES);
    preview_head_put(h, &b);
    if (!h->is_upgrade && extra > h->body_bytes)
        extra = (size_t)h->body_bytes;
    buf_add(&b, p->head.p + len, extra);
    p->up.left = h->is_upgrade ? UINT64_MAX : h->body_bytes - extra;
    bool ok = !b.error;
    buf_fini(&p->head);
    p->head = b;
    return ok;
}

static void
preview_take_request(struct preview *p, const struct preview_head *h,
                     size_t len)
{
    if (!preview_take_host(p, h->host)) {
        preview_answer(p, 404, "there is no such preview");
    } else if (!preview_is_allowed(p, h)) {
        preview_answer(p, 401,
                       "the token of the preview is missing or invalid");
    } else if (h->is_token_in_target && text_is(h->method, "GET") &&
               !h->is_upgrade) {
        preview_answer_cookie(p, h);
    } else if (!preview_rewrite(p, h, len)) {
        preview_answer(p, 431, "the head of the request is too long");
    } else {
        p->is_trusted = true;
        reactor_set_timer(&p->all->sv->reactor, &p->deadline, 0);
        reactor_change(&p->all->sv->reactor, &p->outer, 0);
        preview_wake(p);
    }
}

static void
preview_read_head(struct preview *p)
{
    char *bytes = p->up.bytes; /* not in use yet */
    struct preview_head h;
    ssize_t n = recv(p->outer_hfd, bytes, PREVIEW_READ_BYTES, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        buf_add(&p->head, bytes, (size_t)n);
    if (n <= 0 || p->head.error) {
        preview_free(p);
        return;
    }
    int len = preview_head_parse(p->head.p, p->head.len, &h);
    if (len > 0)
        preview_take_request(p, &h, (size_t)len);
    else if (len == -411)
        preview_answer(p, 411, "the body needs a Content-Length");
    else if (len < 0)
        preview_answer(p, -len, "the request is malformed or too long");
}

/* --- events */

static void
preview_on_outer(struct source *s, uint32_t events)
{
    struct preview *p = CONTAINER_OF(s, struct preview, outer);

    if (events & (EPOLLERR | EPOLLHUP))
        preview_free(p);
    else if (p->is_lingering)
        preview_discard(p);
    else if (p->is_trusted || p->down.has_ended)
        preview_relay(p);
    else
        preview_read_head(p);
}

static void
preview_on_inner(struct source *s, uint32_t events)
{
    (void)events;
    preview_relay(CONTAINER_OF(s, struct preview, inner));
}

static void
preview_on_deadline(struct reactor_timer *t)
{
    preview_free(CONTAINER_OF(t, struct preview, deadline));
}

void
preview_begin(struct previews *all, OWN int hfd)
{
    struct preview *p = calloc(1, sizeof *p);

    if (!p) {
        (void)close(hfd);
        return;
    }
    *p = (struct preview){.all = all,
                          .outer_hfd = hfd,
                          .inner_hfd = -1,
                          .outer = {.hfd = -1, .ready = preview_on_outer},
                          .inner = {.hfd = -1, .ready = preview_on_inner},
                          .deadline.fire = preview_on_deadline};
    list_init(&p->deadline.link);
    buf_init(&p->head, (size_t)PREVIEW_HEAD_BYTES + PREVIEW_READ_BYTES);
    list_push_back(&all->connections, &p->link);
    all->sv->previews.connections++;
    reactor_set_timer(&all->sv->reactor, &p->deadline,
                      time_mono_ns() +
                          all->sv->config->http_request_s * NS_PER_S);
    if (reactor_add_late(&all->sv->reactor, &p->outer, hfd, EPOLLIN) < 0)
        preview_free(p);
}

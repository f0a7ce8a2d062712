#include "supervisor/session/forward.h"

#include "base/hfd.h"
#include "broker/listen.h"
#include "supervisor/session/broker.h"
#include "supervisor/session/life.h"
#include "supervisor/session/say.h"
#include "supervisor/session/session.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ACCEPTS_MAX = 16 }; /* at a time */

/* The worker cannot set options of a socket, so they are set here. */
static void
forward_ready(struct source *source, uint32_t events)
{
    struct session_forward *f =
        CONTAINER_OF(source, struct session_forward, source);
    const int on = 1;

    (void)events;
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        CLEANUP(hfd_closep)
        int hfd =
            accept4(source->hfd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (hfd < 0)
            return;
        (void)setsockopt(hfd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (session_is_serving(f->s)) {
            life_used(f->s->life);
            life_broker_deliver(f->s->life, f->port, hfd);
        }
    }
}

static int
forward_open(struct session_forward *f)
{
    int hfd = broker_listen(f->address, f->host_port, &f->host_port);

    if (hfd < 0)
        return hfd;
    int r = reactor_add_late(&f->s->sv->reactor, &f->source, hfd, EPOLLIN);
    if (r < 0)
        close(hfd);
    return r;
}

static void
forward_close(struct session_forward *f)
{
    int hfd = f->source.hfd;

    reactor_remove(&f->s->sv->reactor, &f->source);
    hfd_closep(&hfd);
}

struct session_forward *
session_forward_find(const struct session *s, uint16_t port)
{
    LIST_FOR_EACH(it, &s->forwards) {
        struct session_forward *f =
            CONTAINER_OF(it, struct session_forward, link);
        if (f->port == port)
            return f;
    }
    return NULL;
}

/* Adds a forward that does not listen yet. */
static int
forward_new(struct session *s, uint16_t port, const char *address,
            uint16_t host_port, struct session_forward **ret)
{
    if (s->n_forwards == FORWARDS_MAX)
        return -ENOSPC;
    if (session_forward_find(s, port))
        return -EEXIST;
    struct session_forward *f = calloc(1, sizeof *f);
    if (!f)
        return -ENOMEM;
    f->s = s;
    f->source = (struct source){.hfd = -1, .ready = forward_ready};
    f->port = port;
    f->host_port = host_port;
    (void)snprintf(f->address, sizeof f->address, "%s", address);
    list_push_back(&s->forwards, &f->link);
    s->n_forwards++;
    *ret = f;
    return 0;
}

int
session_forward_add(struct session *s, uint16_t port, const char *address,
                    uint16_t host_port, struct session_forward **ret)
{
    struct session_forward *f = NULL;

    int r =
        forward_new(s, port, address ? address : "127.0.0.1", host_port, &f);
    if (r < 0)
        return r;
    r = forward_open(f);
    if (r < 0)
        session_forward_free(f);
    else
        *ret = f;
    return r;
}

void
session_forward_free(struct session_forward *f)
{
    forward_close(f);
    list_remove(&f->link);
    f->s->n_forwards--;
    free(f);
}

void
session_forward_free_all(struct session *s)
{
    while (!list_is_empty(&s->forwards))
        session_forward_free(
            CONTAINER_OF(s->forwards.next, struct session_forward, link));
}

/* A port that somebody else uses now is reported, and tried again with the next
 * worker. */
void
session_forward_open_all(struct session *s)
{
    LIST_FOR_EACH(it, &s->forwards) {
        struct session_forward *f =
            CONTAINER_OF(it, struct session_forward, link);
        int r = f->source.hfd < 0 ? forward_open(f) : 0;
        if (r < 0)
            say(s->sv, LEVEL_warn,
                "session %s: cannot listen on %s port %u for its port %u: %s",
                s->id, f->address, f->host_port, f->port, strerror(-r));
    }
}

void
session_forward_close_all(struct session *s)
{
    LIST_FOR_EACH(it, &s->forwards)
        forward_close(CONTAINER_OF(it, struct session_forward, link));
}

/* --- the store */

int
session_forward_read(struct session *s, const struct json *stored)
{
    if (!json_is(stored, JSON_ARRAY))
        return 0;
    JSON_EACH(item, stored) {
        const char *address = json_text(json_get(item, "address")).p;
        int64_t port = 0, host_port = 0;
        struct session_forward *f;
        if (!address || !json_whole(json_get(item, "port"), &port) ||
            !json_whole(json_get(item, "hostPort"), &host_port))
            continue;
        if (forward_new(s, (uint16_t)port, address, (uint16_t)host_port, &f) ==
            -ENOMEM)
            return -ENOMEM;
    }
    return 0;
}

void
session_forward_put(struct buf *b, const struct session *s)
{
    const char *separator = "";

    buf_puts(b, "[");
    LIST_FOR_EACH(it, &s->forwards) {
        const struct session_forward *f =
            CONTAINER_OF(it, struct session_forward, link);
        buf_puts(b, separator);
        buf_puts(b, "{");
        put_number(b, "port", f->port);
        put_name(b, "address");
        put_text(b, f->address);
        put_number(b, "hostPort", f->host_port);
        buf_puts(b, "}");
        separator = ",";
    }
    buf_puts(b, "]");
}

#include "kernel/inbound.h"

#include "kernel/socket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

enum { ACCEPTS_MAX = 16 }; /* at a time */

/* A connection without a listener, or for which there is no memory, is closed
 * at once. */
void
inbound_deliver(struct kernel *k, uint16_t port, OWN int hfd)
{
    struct socket *listener = hfd < 0 ? NULL : inet_find_listener(k, port);

    if (hfd >= 0 && (!listener || socket_accept_outside(listener, hfd) < 0))
        k->host->stream_close(hfd);
}

static void
inbound_ready(struct waiter *w)
{
    struct inbound *i = CONTAINER_OF(w, struct inbound, on_ready);

    for (int n = 0; n < ACCEPTS_MAX; n++) {
        int hfd = i->kernel->host->stream_accept(i->hfd);
        if (hfd < 0)
            break;
        inbound_deliver(i->kernel, i->port, hfd);
    }
    host_watch_arm(&i->watch, i->kernel, POLLIN);
}

struct inbound *
inbound_find(const struct kernel *k, uint16_t port)
{
    LIST_FOR_EACH(it, &k->inbounds) {
        struct inbound *i = CONTAINER_OF(it, struct inbound, link);
        if (i->port == port)
            return i;
    }
    return NULL;
}

int
inbound_add(struct kernel *k, uint16_t port, OWN int hfd)
{
    bool exists = inbound_find(k, port);
    struct inbound *i = exists ? NULL : malloc(sizeof *i);

    if (!i) {
        k->host->stream_close(hfd);
        return exists ? -EEXIST : -ENOMEM;
    }
    *i = (struct inbound){
        .kernel = k,
        .port = port,
        .hfd = hfd,
        .on_ready = {.wake = inbound_ready, .stays = true},
    };
    host_watch_init(&i->watch, k, hfd);
    waitq_add(&i->watch.queue, &i->on_ready);
    host_watch_arm(&i->watch, k, POLLIN);
    list_push_back(&k->inbounds, &i->link);
    return 0;
}

/* A thread that polls the descriptor keeps the socket open after the close, so
 * it is shut down first. */
void
inbound_free(OWN struct inbound *i)
{
    waiter_remove(&i->on_ready);
    host_watch_fini(&i->watch);
    list_remove(&i->link);
    (void)i->kernel->host->stream_shutdown(i->hfd, SHUT_RDWR);
    i->kernel->host->stream_close(i->hfd);
    free(i);
}

void
inbound_free_all(struct kernel *k)
{
    while (!list_is_empty(&k->inbounds))
        inbound_free(CONTAINER_OF(k->inbounds.next, struct inbound, link));
}

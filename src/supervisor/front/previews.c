/* The listener of previews: accepting, and the limit of connections. */
#include "supervisor/front/preview_impl.h"

#include "base/hfd.h"
#include "broker/listen.h"
#include "supervisor/config/config.h"
#include "supervisor/config/config_impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* Closes the oldest connection that has not shown a token. A flood of
 * strangers thus only displaces strangers. */
static bool
previews_evict_one(struct previews *all)
{
    LIST_FOR_EACH(it, &all->connections) {
        struct preview *p = CONTAINER_OF(it, struct preview, link);
        if (p->is_trusted)
            continue;
        preview_free(p);
        return true;
    }
    return false;
}

static void
previews_on_ready(struct source *s, uint32_t events)
{
    struct previews *all = CONTAINER_OF(s, struct previews, source);
    int hfd = accept4(s->hfd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    if (hfd < 0)
        return;
    if (all->sv->previews.connections >= all->sv->config->preview_connections &&
        !previews_evict_one(all))
        (void)close(hfd);
    else
        preview_begin(all, hfd);
}

/* Errors are collected as lines, like those of the configuration. */
static int
previews_listen(struct previews *all, struct buf *errors)
{
    const struct config *c = all->sv->config;
    int r = preview_key_load(c->store_dir, &all->sv->preview_key);

    if (r < 0)
        return config_refuse(errors, "", "network", "preview.key: %s",
                             strerror(-r));
    uint16_t port;
    int hfd =
        broker_listen(c->preview_address, (uint16_t)c->preview_port, &port);
    if (hfd < 0)
        return config_refuse(errors, "", "network", "previews: %s, port %u: %s",
                             c->preview_address, c->preview_port,
                             strerror(-hfd));
    all->sv->preview_port = port;
    return reactor_add_late(&all->sv->reactor, &all->source, hfd, EPOLLIN);
}

int
previews_new(struct supervisor *sv, struct buf *errors, struct previews **ret)
{
    CLEANUP(previews_freep) struct previews *all = calloc(1, sizeof *all);

    if (!all)
        return -ENOMEM;
    *all = (struct previews){.sv = sv,
                             .source = {.hfd = -1, .ready = previews_on_ready}};
    list_init(&all->connections);
    int r = previews_listen(all, errors);
    if (r == 0)
        *ret = STEAL(all);
    return r;
}

void
previews_free(struct previews *all)
{
    if (!all)
        return;
    LIST_FOR_EACH_SAFE(it, &all->connections)
        preview_free(CONTAINER_OF(it, struct preview, link));
    int hfd = all->source.hfd;
    reactor_remove(&all->sv->reactor, &all->source);
    hfd_closep(&hfd);
    free(all);
}

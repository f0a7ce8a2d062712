/* Between commands: background processes. */
#include "lib/lib.h"

#include "kernel/kernel.h"

#include <poll.h>

struct idle {
    int hfd;
    struct host_watch watch;
    struct waiter waiter;
    struct poll_table pt;
    bool is_ready;
};

static void
idle_wake(struct waiter *w)
{
    CONTAINER_OF(w, struct idle, waiter)->is_ready = true;
}

static void
idle_add(struct poll_table *pt, struct waitq *q)
{
    waitq_add(q, &CONTAINER_OF(pt, struct idle, pt)->waiter);
}

static bool
idle_is_over(void *arg)
{
    return ((struct idle *)arg)->is_ready;
}

void
wsand_idle(struct wsand_sandbox *sb, int hfd)
{
    struct idle i = {.hfd = hfd, .waiter.wake = idle_wake, .pt.add = idle_add};

    list_init(&i.waiter.link);
    host_watch_init(&i.watch, sb->kernel, hfd);
    if (host_watch_poll(&i.watch, sb->kernel, POLLIN, &i.pt))
        i.is_ready = true;
    (void)kernel_run(sb->kernel, idle_is_over, &i, NS_NEVER);
    waiter_remove(&i.waiter);
    host_watch_fini(&i.watch);
}

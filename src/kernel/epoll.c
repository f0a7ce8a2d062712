/* Sets of watched files.
 *
 * Problem: a wait must not check every file of a large set.
 *
 * Idea: an item has a permanent waiter on each queue of its file. A wake-up
 * puts the item on the ready list of its set, and wakes the set. Waiting
 * therefore costs only as much as there are ready items.
 *
 * A wake-up is only a hint: the file is polled again when events are collected,
 * so a spurious one is harmless. None is missed, because the waiters stay on
 * the queues. Items do not hold their files: file_put removes them through
 * epoll_forget. */
#include "kernel/epoll.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>

enum { NESTING_MAX = 5 };

#define ALWAYS_REPORTED ((uint32_t)EPOLLERR | (uint32_t)EPOLLHUP)
#define BEHAVIOUR                                                         \
    ((uint32_t)EPOLLET | (uint32_t)EPOLLONESHOT | (uint32_t)EPOLLWAKEUP | \
     (uint32_t)EPOLLEXCLUSIVE)

/* A set. `items` has all watched files, `ready` the items that may have
 * events. */
struct epoll {
    struct kernel *kernel;
    struct file *file;
    struct list items, ready;
    struct waitq changed;
    bool is_told; /* changed was woken, and nobody has looked since */
    /* On the lists of even and odd levels of a nesting check. */
    struct epoll *next[2];
    bool is_visited[2];
};

/* One watched descriptor. The pair (file, fd) identifies it, as in Linux. */
struct epoll_item {
    struct epoll *ep;
    struct file *file;
    int fd;
    struct epoll_event_k event;
    struct list link;            /* in ep->items */
    struct list ready;           /* in ep->ready, or alone */
    struct list watch;           /* in file->watchers */
    struct item_waiter *waiters; /* one for each queue of the file */
};

struct item_waiter {
    struct waiter w;
    struct epoll_item *item;
    struct item_waiter *next;
};

/* Items are made by guests in any number, so they count as memory. */
static void *
epoll_charged_alloc(struct kernel *k, size_t size)
{
    if (!limits_charge(&k->limits, LIMIT_memory, size))
        return NULL;
    void *p = calloc(1, size);
    if (!p)
        limits_uncharge(&k->limits, LIMIT_memory, size);
    return p;
}

static void
epoll_charged_free(struct kernel *k, OWN void *p, size_t size)
{
    free(p);
    limits_uncharge(&k->limits, LIMIT_memory, size);
}

/* --- items */

/* A set is notified once until it is read. Otherwise nested sets would multiply
 * notifications: the number of paths to a file is the product of their sizes.
 */
static void
item_make_ready(struct epoll_item *item)
{
    struct epoll *ep = item->ep;

    if (!(item->event.events & ~BEHAVIOUR))
        return; /* disarmed by EPOLLONESHOT */
    if (list_is_empty(&item->ready))
        list_push_back(&ep->ready, &item->ready);
    if (ep->is_told)
        return;
    ep->is_told = true;
    waitq_wake(&ep->changed);
}

static void
epoll_on_wake(struct waiter *w)
{
    item_make_ready(CONTAINER_OF(w, struct item_waiter, w)->item);
}

/* Collects the queues of a file for an item. */
struct item_table {
    struct poll_table pt;
    struct epoll_item *item;
    bool failed;
};

/* Called by the poll operation of the file, once for each of its queues. */
static void
epoll_item_table_add(struct poll_table *pt, struct waitq *q)
{
    struct item_table *table = CONTAINER_OF(pt, struct item_table, pt);
    struct epoll_item *item = table->item;
    struct item_waiter *w = epoll_charged_alloc(item->ep->kernel, sizeof *w);

    if (!w) {
        table->failed = true;
        return;
    }
    w->w.wake = epoll_on_wake;
    w->w.stays = true;
    w->item = item;
    w->next = item->waiters;
    item->waiters = w;
    waitq_add(q, &w->w);
}

/* Polls the file; behaviour flags are not events. */
static short
item_events(const struct epoll_item *item)
{
    return (short)(file_poll(item->file, NULL) &
                   (short)(item->event.events & ~BEHAVIOUR));
}

/* Leaves every list before the memory goes, so that a wake-up cannot find
 * it. */
static void
item_free(OWN struct epoll_item *item)
{
    struct kernel *k = item->ep->kernel;

    while (item->waiters) {
        struct item_waiter *w = item->waiters;
        item->waiters = w->next;
        waiter_remove(&w->w);
        epoll_charged_free(k, w, sizeof *w);
    }
    list_remove(&item->watch);
    list_remove(&item->link);
    list_remove(&item->ready);
    epoll_charged_free(k, item, sizeof *item);
}

/* Returns the item of (f, fd) in ep, or NULL. The item is in the list of its
 * set and in that of its file. Either list can be very long, so both are walked
 * in step and the shorter one decides. */
static struct epoll_item *
item_find(const struct epoll *ep, const struct file *f, int fd)
{
    const struct list *mine = ep->items.next, *its = f->watchers.next;

    for (; mine != &ep->items && its != &f->watchers;
         mine = mine->next, its = its->next) {
        struct epoll_item *a = CONTAINER_OF(mine, struct epoll_item, link);
        struct epoll_item *b = CONTAINER_OF(its, struct epoll_item, watch);
        if (a->file == f && a->fd == fd)
            return a;
        if (b->ep == ep && b->fd == fd)
            return b;
    }
    return NULL;
}

void
epoll_forget(struct file *f)
{
    while (!list_is_empty(&f->watchers))
        item_free(CONTAINER_OF(f->watchers.next, struct epoll_item, watch));
}

/* --- nesting */

static const struct file_ops epoll_ops;

struct epoll_level {
    struct epoll *first;
    unsigned parity;
};

/* A set is on a list of a level at most once; the mark says so. */
static void
epoll_visit(struct epoll_level *level, struct epoll *ep)
{
    if (ep->is_visited[level->parity])
        return;
    ep->is_visited[level->parity] = true;
    ep->next[level->parity] = level->first;
    level->first = ep;
}

/* Adds the sets that ep watches, or those that watch it. */
static void
epoll_visit_neighbours(struct epoll_level *level, const struct epoll *ep,
                       bool down)
{
    if (down) {
        LIST_FOR_EACH(it, &ep->items) {
            struct epoll_item *item = CONTAINER_OF(it, struct epoll_item, link);
            if (item->file->ops == &epoll_ops)
                epoll_visit(level, item->file->obj);
        }
        return;
    }
    LIST_FOR_EACH(it, &ep->file->watchers)
        epoll_visit(level, CONTAINER_OF(it, struct epoll_item, watch)->ep);
}

/* Returns the nesting depth of sets from ep, or -ELOOP if it leads to `target`.
 * The search goes level by level (breadth first) and visits each set once per
 * level, so its cost does not depend on the number of paths. */
static int
epoll_nesting(struct epoll *ep, const struct epoll *target, bool down)
{
    struct epoll_level level = {0};
    int depth = 0;
    bool loops = false;

    epoll_visit(&level, ep);
    while (level.first) {
        struct epoll_level next = {.parity = !level.parity};
        depth++;
        for (struct epoll *e = level.first; e; e = e->next[level.parity]) {
            e->is_visited[level.parity] = false;
            loops |= e == target;
            if (depth <= NESTING_MAX && !loops)
                epoll_visit_neighbours(&next, e, down);
        }
        level = next;
    }
    return loops ? -ELOOP : depth;
}

/* The depth from the new edge downwards and upwards must not exceed the limit,
 * and the edge must not close a cycle. Wake-ups then pass through a bounded
 * number of sets. */
static int
epoll_check_nesting(struct epoll *ep, struct file *f)
{
    if (f->ops != &epoll_ops)
        return 0;
    int below = epoll_nesting(f->obj, ep, true);
    int above = epoll_nesting(ep, NULL, false);

    return below < 0 || below + above > NESTING_MAX ? -ELOOP : 0;
}

/* --- changing the set */

bool
epoll_is(const struct file *f)
{
    return f->ops == &epoll_ops;
}

/* The checks of epoll_ctl that do not depend on the operation. */
static int
epoll_check_pair(const struct file *ep, const struct file *f)
{
    if (!f->ops->poll)
        return -EPERM;
    return ep == f || !epoll_is(ep) ? -EINVAL : 0;
}

static int
item_new(struct epoll *ep, struct file *f, int fd,
         const struct epoll_event_k *ev, struct epoll_item **ret)
{
    struct epoll_item *item = epoll_charged_alloc(ep->kernel, sizeof *item);

    if (!item)
        return -ENOMEM;
    *item = (struct epoll_item){.ep = ep, .file = f, .fd = fd, .event = *ev};
    item->event.events |= ALWAYS_REPORTED;
    list_push_back(&f->watchers, &item->watch);
    list_push_back(&ep->items, &item->link);
    list_init(&item->ready);
    struct item_table table = {.pt.add = epoll_item_table_add, .item = item};
    (void)file_poll(f, &table.pt);
    if (table.failed) {
        item_free(item);
        return -ENOMEM;
    }
    *ret = item;
    return 0;
}

int
epoll_add(struct file *epf, struct file *f, int fd,
          const struct epoll_event_k *ev)
{
    struct epoll_item *item;
    int r = epoll_check_pair(epf, f);

    if (r < 0)
        return r;
    struct epoll *ep = epf->obj;
    if (ev->events & EPOLLEXCLUSIVE && epoll_is(f))
        return -EINVAL;
    r = epoll_check_nesting(ep, f);
    if (r < 0)
        return r;
    if (item_find(ep, f, fd))
        return -EEXIST;
    r = item_new(ep, f, fd, ev, &item);
    if (r < 0)
        return r;
    if (item_events(item))
        item_make_ready(item);
    return 0;
}

/* A change of events may make an item ready without any wake-up of its file. */
int
epoll_modify(struct file *epf, struct file *f, int fd,
             const struct epoll_event_k *ev)
{
    int r = epoll_check_pair(epf, f);

    if (r < 0)
        return r;
    if (ev->events & EPOLLEXCLUSIVE)
        return -EINVAL;
    struct epoll_item *item = item_find(epf->obj, f, fd);
    if (!item)
        return -ENOENT;
    item->event = *ev;
    item->event.events |= ALWAYS_REPORTED;
    if (item_events(item))
        item_make_ready(item);
    return 0;
}

int
epoll_remove(struct file *epf, struct file *f, int fd)
{
    int r = epoll_check_pair(epf, f);

    if (r < 0)
        return r;
    struct epoll_item *item = item_find(epf->obj, f, fd);
    if (!item)
        return -ENOENT;
    item_free(item);
    return 0;
}

/* --- events */

/* Reports one item of the ready list. Returns false if it has no events after
 * all. A level-triggered item returns to the end of the list, so that all items
 * are served in rotation. */
static bool
item_report(struct epoll_item *item, struct epoll_event_k *out)
{
    short events = item_events(item);

    list_remove(&item->ready);
    if (!events)
        return false;
    *out = (struct epoll_event_k){.events = (uint16_t)events,
                                  .data = item->event.data};
    if (item->event.events & EPOLLONESHOT)
        item->event.events &= BEHAVIOUR;
    else if (!(item->event.events & EPOLLET))
        list_push_back(&item->ep->ready, &item->ready);
    return true;
}

/* Stops after the item that was last when the call began: level-triggered items
 * are appended again, and would be reported twice. */
size_t
epoll_collect(struct file *epf, struct epoll_event_k *out, size_t max)
{
    struct epoll *ep = epf->obj;
    struct list *last = ep->ready.prev;
    size_t n = 0;

    ep->is_told = false;
    while (n < max && !list_is_empty(&ep->ready)) {
        struct list *it = ep->ready.next;
        if (item_report(CONTAINER_OF(it, struct epoll_item, ready), out + n))
            n++;
        if (it == last)
            break;
    }
    return n;
}

/* Items that are no longer ready are dropped here, so a set costs its readers
 * no more than it must. The first ready item is enough. */
static short
epoll_poll(struct file *f, struct poll_table *pt)
{
    struct epoll *ep = f->obj;

    poll_wait(pt, &ep->changed);
    ep->is_told = false;
    while (!list_is_empty(&ep->ready)) {
        struct epoll_item *item =
            CONTAINER_OF(ep->ready.next, struct epoll_item, ready);
        if (item_events(item))
            return POLLIN | POLLRDNORM;
        list_remove(&item->ready);
    }
    return 0;
}

static void
epoll_release(struct file *f)
{
    struct epoll *ep = f->obj;

    LIST_FOR_EACH_SAFE(it, &ep->items)
        item_free(CONTAINER_OF(it, struct epoll_item, link));
    waitq_fini(&ep->changed);
    free(ep);
}

static const struct file_ops epoll_ops = {
    .kind = "anon_inode:[eventpoll]",
    .poll = epoll_poll,
    .release = epoll_release,
};

int
epoll_new(struct kernel *k, OWN struct file **ret)
{
    struct epoll *ep = malloc(sizeof *ep);

    if (!ep)
        return -ENOMEM;
    *ep = (struct epoll){.kernel = k};
    list_init(&ep->items);
    list_init(&ep->ready);
    waitq_init(&ep->changed);
    int r = file_new(&k->vfs, &epoll_ops, ep, O_RDWR, ret);
    if (r == 0)
        ep->file = *ret;
    return r;
}

/* epoll sets and poll. */
#include "world.h"

#include "kernel/epoll.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>

enum { FDS = 64, EV = 128, OUT = 256, BUF = 4096 };

static int32_t
ctl(struct task *t, int ep, int op, int fd, uint32_t events)
{
    struct epoll_event_k ev = {.events = events, .data = (uint64_t)fd};

    memcpy(world_at(t, EV), &ev, sizeof ev);
    return SYS(t, NR_epoll_ctl, ep, op, fd, EV);
}

static int32_t
wait_for(struct task *t, int ep, int32_t timeout_ms)
{
    return SYS(t, NR_epoll_pwait, ep, OUT, 8, timeout_ms, 0, 8);
}

static struct epoll_event_k
event(struct task *t, uint32_t i)
{
    struct epoll_event_k ev;

    memcpy(&ev, world_at(t, OUT + i * (uint32_t)sizeof ev), sizeof ev);
    return ev;
}

/* Descriptors 0 (the set), 1 and 2 (a pipe). */
static struct task *
task_with_pipe(struct kernel *k)
{
    struct task *t = world_task(k);

    CHECK_EQ(SYS(t, NR_epoll_create1, 0), 0);
    CHECK_EQ(SYS(t, NR_pipe2, FDS, O_NONBLOCK), 0);
    return t;
}

TEST(epoll_level_repeats_while_ready)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pipe(k);

    CHECK_EQ(ctl(t, 0, EPOLL_CTL_ADD, 1, EPOLLIN), 0);
    CHECK_EQ(wait_for(t, 0, 0), 0);
    CHECK_EQ(wait_for(t, 0, -1), -EWAIT);
    struct file *w = fd_find(t, 2);
    CHECK_EQ(w->ops->write(w, t, "x", 1, NULL), 1);
    CHECK(world_is_woken(t));
    CHECK_EQ(wait_for(t, 0, -1), 1);
    CHECK_EQ(event(t, 0).events, EPOLLIN);
    CHECK_EQ(event(t, 0).data, 1);
    CHECK_EQ(wait_for(t, 0, 0), 1);
    CHECK_EQ(SYS(t, NR_read, 1, BUF, 10), 1);
    CHECK_EQ(wait_for(t, 0, 0), 0);
    kernel_free(k);
}

TEST(epoll_edge_tells_each_arrival_once)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pipe(k);

    CHECK_EQ(ctl(t, 0, EPOLL_CTL_ADD, 1, EPOLLIN | EPOLLET), 0);
    CHECK_EQ(SYS(t, NR_write, 2, BUF, 1), 1);
    CHECK_EQ(wait_for(t, 0, 0), 1);
    CHECK_EQ(wait_for(t, 0, 0), 0);
    CHECK_EQ(SYS(t, NR_write, 2, BUF, 1), 1);
    CHECK_EQ(wait_for(t, 0, 0), 1);
    CHECK_EQ(wait_for(t, 0, 0), 0);
    kernel_free(k);
}

TEST(epoll_oneshot_waits_to_be_armed_again)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pipe(k);

    CHECK_EQ(ctl(t, 0, EPOLL_CTL_ADD, 1, EPOLLIN | EPOLLONESHOT), 0);
    CHECK_EQ(SYS(t, NR_write, 2, BUF, 1), 1);
    CHECK_EQ(wait_for(t, 0, 0), 1);
    CHECK_EQ(wait_for(t, 0, 0), 0);
    CHECK_EQ(SYS(t, NR_write, 2, BUF, 1), 1);
    CHECK_EQ(wait_for(t, 0, 0), 0);
    CHECK_EQ(ctl(t, 0, EPOLL_CTL_MOD, 1, EPOLLIN | EPOLLONESHOT), 0);
    CHECK_EQ(wait_for(t, 0, 0), 1);
    kernel_free(k);
}

TEST(epoll_forgets_closed_files)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pipe(k);

    CHECK_EQ(ctl(t, 0, EPOLL_CTL_ADD, 1, EPOLLIN), 0);
    CHECK_EQ(SYS(t, NR_write, 2, BUF, 1), 1);
    CHECK_EQ(SYS(t, NR_dup, 1), 3);
    CHECK_EQ(SYS(t, NR_close, 1), 0);
    CHECK_EQ(wait_for(t, 0, 0), 1); /* the copy keeps it open */
    CHECK_EQ(SYS(t, NR_close, 3), 0);
    CHECK_EQ(wait_for(t, 0, 0), 0);
    CHECK(!list_is_empty(&k->tasks));
    CHECK_EQ(SYS(t, NR_close, 2), 0);
    kernel_free(k);
}

TEST(epoll_set_that_ends_leaves_the_files_alone)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pipe(k);

    CHECK_EQ(ctl(t, 0, EPOLL_CTL_ADD, 1, EPOLLIN), 0);
    CHECK_EQ(SYS(t, NR_close, 0), 0);
    CHECK_EQ(SYS(t, NR_write, 2, BUF, 1), 1);
    CHECK(list_is_empty(&fd_find(t, 1)->watchers));
    CHECK_EQ(world_memory(k), 65536); /* the pipe's ring */
    kernel_free(k);
}

TEST(epoll_refuses_what_linux_refuses)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pipe(k);

    CHECK_EQ(ctl(t, 0, EPOLL_CTL_MOD, 1, EPOLLIN), -ENOENT);
    CHECK_EQ(ctl(t, 0, EPOLL_CTL_DEL, 1, EPOLLIN), -ENOENT);
    CHECK_EQ(ctl(t, 0, EPOLL_CTL_ADD, 1, EPOLLIN), 0);
    CHECK_EQ(ctl(t, 0, EPOLL_CTL_ADD, 1, EPOLLIN), -EEXIST);
    CHECK_EQ(ctl(t, 0, EPOLL_CTL_ADD, 0, EPOLLIN), -EINVAL);
    CHECK_EQ(ctl(t, 1, EPOLL_CTL_ADD, 2, EPOLLIN), -EINVAL);
    CHECK_EQ(ctl(t, 0, EPOLL_CTL_ADD, 9, EPOLLIN), -EBADF);
    CHECK_EQ(ctl(t, 0, 9, 1, EPOLLIN), -EINVAL);
    CHECK_EQ(SYS(t, NR_epoll_pwait, 0, OUT, 0, 0, 0, 8), -EINVAL);
    strcpy(world_at(t, BUF), "/file");
    CHECK_EQ(SYS(t, NR_openat, AT_FDCWD, BUF, O_CREAT | O_RDWR, 0600), 3);
    CHECK_EQ(ctl(t, 0, EPOLL_CTL_ADD, 3, EPOLLIN), -EPERM);
    kernel_free(k);
}

TEST(epoll_nests_without_cycles_and_not_too_deep)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    for (int i = 0; i < 7; i++)
        CHECK_EQ(SYS(t, NR_epoll_create1, 0), i);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(ctl(t, i, EPOLL_CTL_ADD, i + 1, EPOLLIN), 0);
    CHECK_EQ(ctl(t, 4, EPOLL_CTL_ADD, 5, EPOLLIN), -ELOOP);
    CHECK_EQ(ctl(t, 5, EPOLL_CTL_ADD, 0, EPOLLIN), -ELOOP);
    CHECK_EQ(ctl(t, 4, EPOLL_CTL_ADD, 0, EPOLLIN), -ELOOP);
    CHECK_EQ(ctl(t, 0, EPOLL_CTL_ADD, 3, EPOLLIN), 0);
    CHECK_EQ(ctl(t, 3, EPOLL_CTL_ADD, 0, EPOLLIN), -ELOOP);
    CHECK_EQ(SYS(t, NR_pipe2, FDS, O_NONBLOCK), 0);
    CHECK_EQ(ctl(t, 4, EPOLL_CTL_ADD, 7, EPOLLIN), 0);
    CHECK_EQ(wait_for(t, 0, 0), 0);
    CHECK_EQ(SYS(t, NR_write, 8, BUF, 1), 1);
    CHECK_EQ(wait_for(t, 0, 0), 2);
    kernel_free(k);
}

/* Counts the wake-ups of what it is on the queue of. */
struct counter {
    struct poll_table pt;
    struct waiter w;
    int n;
};

static void
count(struct waiter *w)
{
    CONTAINER_OF(w, struct counter, w)->n++;
}

static void
count_on(struct poll_table *pt, struct waitq *q)
{
    waitq_add(q, &CONTAINER_OF(pt, struct counter, pt)->w);
}

/* Each set of a level watches all of the level below, the first a pipe. */
TEST(epoll_many_paths_to_a_file_are_one_wake_up)
{
    enum { LEVELS = 4, WIDTH = 6 };
    struct kernel *k = world_new();
    struct task *t = task_with_pipe(k);
    struct counter c = {.pt.add = count_on,
                        .w = {.wake = count, .stays = true}};
    int top = 3 + LEVELS * WIDTH;

    for (int i = 3; i <= top; i++)
        CHECK_EQ(SYS(t, NR_epoll_create1, 0), i);
    for (int i = 3; i < top; i++) {
        int below = 3 + ((i - 3) / WIDTH - 1) * WIDTH;
        for (int n = 0; n < WIDTH && below >= 3; n++)
            CHECK_EQ(ctl(t, i, EPOLL_CTL_ADD, below + n, EPOLLIN), 0);
        if (below < 3)
            CHECK_EQ(ctl(t, i, EPOLL_CTL_ADD, 1, EPOLLIN), 0);
    }
    for (int i = top - WIDTH; i < top; i++)
        CHECK_EQ(ctl(t, top, EPOLL_CTL_ADD, i, EPOLLIN | EPOLLET), 0);
    struct file *f = fd_find(t, top), *w = fd_find(t, 2);
    (void)file_poll(f, &c.pt);
    CHECK_EQ(w->ops->write(w, t, "x", 1, NULL), 1);
    CHECK_EQ(c.n, 1);
    CHECK_EQ(wait_for(t, top, 0), WIDTH);
    CHECK_EQ(wait_for(t, top, 0), 0);
    CHECK_EQ(w->ops->write(w, t, "x", 1, NULL), 1);
    CHECK_EQ(c.n, 2);
    CHECK_EQ(wait_for(t, top, 0), WIDTH);
    waiter_remove(&c.w);
    kernel_free(k);
}

TEST(epoll_wait_ends_at_its_deadline)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pipe(k);

    CHECK_EQ(wait_for(t, 0, 100), -EWAIT);
    world_sleep_ns(k, 50 * NS_PER_MS);
    CHECK(!world_is_woken(t));
    world_sleep_ns(k, 50 * NS_PER_MS);
    CHECK(world_is_woken(t));
    CHECK_EQ(wait_for(t, 0, 100), 0);
    kernel_free(k);
}

TEST(epoll_survives_failing_allocations)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pipe(k);
    struct epoll_event_k ev = {.events = EPOLLIN};
    struct file *ep;

    EACH_OOM(oom) {
        if (epoll_new(k, &ep) < 0)
            continue;
        (void)epoll_add(ep, fd_find(t, 1), 1, &ev);
        file_put(ep);
        CHECK(list_is_empty(&fd_find(t, 1)->watchers));
    }
    CHECK_EQ(world_memory(k), 0);
    kernel_free(k);
}

TEST(poll_reports_events_and_bad_descriptors)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pipe(k);
    struct pollfd p[3] = {{.fd = 1, .events = POLLIN},
                          {.fd = -1, .events = POLLIN},
                          {.fd = 50, .events = POLLIN}};

    memcpy(world_at(t, OUT), p, sizeof p);
    CHECK_EQ(SYS(t, NR_ppoll, OUT, 3, 0, 0, 8), 1);
    memcpy(p, world_at(t, OUT), sizeof p);
    CHECK_EQ(p[0].revents, 0);
    CHECK_EQ(p[1].revents, 0);
    CHECK_EQ(p[2].revents, POLLNVAL);
    CHECK_EQ(SYS(t, NR_ppoll, OUT, 1, 0, 0, 8), -EWAIT);
    CHECK_EQ(fd_close(t, 2), 0);
    CHECK(world_is_woken(t));
    CHECK_EQ(SYS(t, NR_ppoll, OUT, 1, 0, 0, 8), 1);
    memcpy(p, world_at(t, OUT), sizeof p);
    CHECK_EQ(p[0].revents, POLLHUP);
    kernel_free(k);
}

TEST(poll_swaps_the_mask_while_it_waits)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pipe(k);
    struct pollfd p = {.fd = 1, .events = POLLIN};
    uint64_t none = 0;

    t->sig.action[SIGUSR1].handler = 100;
    signals_set_mask(t, SIG_BIT(SIGUSR1));
    memcpy(world_at(t, OUT), &p, sizeof p);
    memcpy(world_at(t, BUF), &none, sizeof none);
    CHECK_EQ(SYS(t, NR_ppoll, OUT, 1, 0, BUF, 8), -EWAIT);
    CHECK_EQ(t->sig.first.mask, 0);
    struct file *w = fd_find(t, 2);
    CHECK_EQ(w->ops->write(w, t, "x", 1, NULL), 1);
    CHECK_EQ(SYS(t, NR_ppoll, OUT, 1, 0, BUF, 8), 1);
    CHECK_EQ(t->sig.first.mask, SIG_BIT(SIGUSR1));
    CHECK_EQ(SYS(t, NR_read, 1, BUF + 8, 1), 1);
    CHECK_EQ(SYS(t, NR_ppoll, OUT, 1, 0, BUF, 8), -EWAIT);
    signal_send_kernel(t, SIGUSR1);
    CHECK(world_is_woken(t));
    CHECK_EQ(SYS(t, NR_ppoll, OUT, 1, 0, BUF, 8), -EINTR);
    CHECK(t->sig.first.has_saved_mask);
    CHECK_EQ(t->sig.first.saved_mask, SIG_BIT(SIGUSR1));
    kernel_free(k);
}

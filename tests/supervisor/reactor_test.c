/* The loop of the supervisor. */
#include "../unit/test.h"

#include "supervisor/common/reactor.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* One that reads its eventfd, and does what the test wants. */
struct probe {
    struct source source;
    struct reactor_timer timer;
    struct reactor *r;
    struct probe *other;
    int fired;
    int64_t number; /* in the order of firing */
};

static void
stop(struct source *s, uint32_t events)
{
    struct probe *p = CONTAINER_OF(s, struct probe, source);

    (void)events;
    p->fired++;
    reactor_stop(p->r);
}

/* Takes the other one away, which is ready in the same step. */
static void
remove_other(struct source *s, uint32_t events)
{
    struct probe *p = CONTAINER_OF(s, struct probe, source);

    (void)events;
    p->fired++;
    reactor_remove(p->r, &p->other->source);
    reactor_stop(p->r);
}

TEST(a_source_that_was_removed_is_not_called_in_the_same_step)
{
    struct reactor r;
    struct probe a = {.r = &r, .other = NULL}, b = {.r = &r, .other = &a};

    a.other = &b;
    a.source.ready = b.source.ready = remove_other;
    CHECK_EQ(reactor_init(&r), 0);
    int x = eventfd(1, EFD_CLOEXEC), y = eventfd(1, EFD_CLOEXEC);
    CHECK_EQ(reactor_add(&r, &a.source, x, EPOLLIN), 0);
    CHECK_EQ(reactor_add(&r, &b.source, y, EPOLLIN), 0);
    CHECK_EQ(reactor_run(&r), 0);
    CHECK_EQ(a.fired + b.fired, 1);
    reactor_remove(&r, &a.source);
    reactor_remove(&r, &a.source); /* again is fine */
    reactor_fini(&r);
    (void)close(x);
    (void)close(y);
}

TEST(a_source_waits_for_the_events_it_wants)
{
    struct reactor r;
    struct probe a = {.r = &r}, b = {.r = &r};

    a.source.ready = b.source.ready = stop;
    CHECK_EQ(reactor_init(&r), 0);
    int x = eventfd(1, EFD_CLOEXEC), y = eventfd(0, EFD_CLOEXEC);
    CHECK_EQ(reactor_add(&r, &a.source, x, EPOLLIN), 0);
    CHECK_EQ(reactor_add(&r, &b.source, y, EPOLLIN), 0);
    reactor_change(&r, &a.source, 0);
    reactor_change(&r, &b.source, EPOLLOUT);
    CHECK_EQ(reactor_run(&r), 0);
    CHECK_EQ(a.fired, 0);
    CHECK_EQ(b.fired, 1);
    reactor_fini(&r);
    (void)close(x);
    (void)close(y);
}

static int64_t n_fired;

static void
on_time(struct reactor_timer *t)
{
    CONTAINER_OF(t, struct probe, timer)->number = ++n_fired;
}

static void
on_last_time(struct reactor_timer *t)
{
    on_time(t);
    reactor_stop(CONTAINER_OF(t, struct probe, timer)->r);
}

TEST(timers_fire_in_their_order_and_those_taken_away_do_not)
{
    struct reactor r;
    struct probe p[5] = {{.r = &r}, {.r = &r}, {.r = &r}, {.r = &r}, {.r = &r}};
    int64_t now = time_mono_ns();

    n_fired = 0;
    CHECK_EQ(reactor_init(&r), 0);
    for (int i = 0; i < 5; i++)
        p[i].timer.fire = i == 4 ? on_last_time : on_time;
    reactor_set_timer(&r, &p[4].timer, now + 3000000);
    reactor_set_timer(&r, &p[1].timer, now + 1000000);
    reactor_set_timer(&r, &p[0].timer, now - 1);
    reactor_set_timer(&r, &p[2].timer, now + 9000000);
    reactor_set_timer(&r, &p[2].timer, now + 2000000); /* earlier, after all */
    reactor_set_timer(&r, &p[3].timer, now + 1);
    reactor_set_timer(&r, &p[3].timer, 0);
    CHECK_EQ(reactor_run(&r), 0);
    CHECK_EQ(p[0].number, 1);
    CHECK_EQ(p[1].number, 2);
    CHECK_EQ(p[2].number, 3);
    CHECK_EQ(p[3].number, 0);
    CHECK_EQ(p[4].number, 4);
    reactor_fini(&r);
}

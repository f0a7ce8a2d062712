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

/* A flood of strangers, all ready for ever, and one session that is too. */
enum { STRANGERS = 100 };
struct flood {
    struct reactor r;
    struct probe session, strangers[STRANGERS];
    int hfds[STRANGERS + 1];
    int64_t n_calls;
};

static void
count_call(struct source *s, uint32_t events)
{
    struct probe *p = CONTAINER_OF(s, struct probe, source);
    struct flood *f = CONTAINER_OF(p->r, struct flood, r);

    (void)events;
    p->fired++;
    p->number = ++f->n_calls;
}

static void
flood_init(struct flood *f)
{
    *f = (struct flood){.n_calls = 0};
    CHECK_EQ(reactor_init(&f->r), 0);
    for (int i = 0; i <= STRANGERS; i++) {
        struct probe *p = i < STRANGERS ? &f->strangers[i] : &f->session;
        p->r = &f->r;
        p->source.ready = count_call;
        f->hfds[i] = eventfd(1, EFD_CLOEXEC);
        if (i < STRANGERS)
            CHECK_EQ(reactor_add_late(&f->r, &p->source, f->hfds[i], EPOLLIN),
                     0);
        else
            CHECK_EQ(reactor_add(&f->r, &p->source, f->hfds[i], EPOLLIN), 0);
    }
}

static void
flood_fini(struct flood *f)
{
    reactor_fini(&f->r);
    for (int i = 0; i <= STRANGERS; i++)
        (void)close(f->hfds[i]);
}

TEST(a_session_waits_for_one_stranger_at_most)
{
    struct flood f;

    flood_init(&f);
    for (int i = 1; i <= 2 * STRANGERS; i++) {
        CHECK_EQ(reactor_step(&f.r), 0);
        CHECK_EQ(f.session.fired, i);
        CHECK_EQ(f.session.number, 2 * i - 1);
        CHECK_EQ(f.n_calls, 2 * i);
    }
    flood_fini(&f);
}

TEST(each_stranger_is_served_beside_a_session_that_is_always_ready)
{
    struct flood f;

    flood_init(&f);
    for (int i = 0; i < 3 * STRANGERS; i++)
        CHECK_EQ(reactor_step(&f.r), 0);
    for (int i = 0; i < STRANGERS; i++)
        CHECK_EQ(f.strangers[i].fired, 3);
    flood_fini(&f);
}

TEST(a_stranger_that_was_promoted_or_removed_waits_for_no_other)
{
    struct flood f;

    flood_init(&f);
    reactor_promote(&f.r, &f.strangers[STRANGERS - 1].source);
    reactor_promote(&f.r, &f.session.source); /* is not late */
    for (int i = 0; i < STRANGERS - 2; i++)
        reactor_remove(&f.r, &f.strangers[i].source);
    reactor_promote(&f.r, &f.strangers[0].source); /* is not there */
    for (int i = 0; i < 5; i++)
        CHECK_EQ(reactor_step(&f.r), 0);
    CHECK_EQ(f.strangers[STRANGERS - 1].fired, 5);
    CHECK_EQ(f.strangers[STRANGERS - 2].fired, 5);
    CHECK_EQ(f.strangers[0].fired, 0);
    CHECK_EQ(f.n_calls, 15);
    reactor_change(&f.r, &f.strangers[STRANGERS - 1].source, 0);
    reactor_change(&f.r, &f.strangers[STRANGERS - 2].source, 0);
    CHECK_EQ(reactor_step(&f.r), 0);
    CHECK_EQ(f.n_calls, 16);
    flood_fini(&f);
}

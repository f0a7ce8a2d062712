/* Wait queues. */
#include "kernel/wait.h"

#include "test.h"

struct mark {
    struct waiter w;
    struct waitq *q;      /* to add itself to again, or NULL */
    struct waiter *other; /* to be removed, or NULL */
    int woken;
    bool was_queued;
};

static void
on_wake(struct waiter *w)
{
    struct mark *m = CONTAINER_OF(w, struct mark, w);

    m->woken++;
    m->was_queued = !list_is_empty(&w->link);
    if (m->other)
        waiter_remove(m->other);
    if (m->q)
        waitq_add(m->q, w);
}

static void
mark_init(struct mark *m)
{
    *m = (struct mark){.w.wake = on_wake};
    list_init(&m->w.link);
}

TEST(wait_wake_takes_all_off_the_queue)
{
    struct waitq q;
    struct mark m[3];

    waitq_init(&q);
    CHECK(waitq_is_empty(&q));
    waitq_wake(&q);
    for (int i = 0; i < 3; i++) {
        mark_init(&m[i]);
        waitq_add(&q, &m[i].w);
    }
    CHECK(!waitq_is_empty(&q));
    waitq_wake(&q);
    CHECK(waitq_is_empty(&q));
    waitq_wake(&q);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(m[i].woken, 1);
        CHECK(!m[i].was_queued);
    }
}

TEST(wait_waiter_that_stays_is_woken_each_time)
{
    struct waitq q;
    struct mark m;

    waitq_init(&q);
    mark_init(&m);
    m.w.stays = true;
    waitq_add(&q, &m.w);
    waitq_wake(&q);
    waitq_wake(&q);
    CHECK_EQ(m.woken, 2);
    CHECK(m.was_queued);
    waiter_remove(&m.w);
    waitq_wake(&q);
    CHECK_EQ(m.woken, 2);
}

TEST(wait_wake_may_remove_others)
{
    struct waitq q;
    struct mark m[3];

    waitq_init(&q);
    for (int i = 0; i < 3; i++) {
        mark_init(&m[i]);
        waitq_add(&q, &m[i].w);
    }
    m[0].other = &m[1].w;
    m[2].other = &m[2].w;
    waitq_wake(&q);
    CHECK_EQ(m[0].woken, 1);
    CHECK_EQ(m[1].woken, 0);
    CHECK_EQ(m[2].woken, 1);
    CHECK(waitq_is_empty(&q));
}

TEST(wait_waiter_added_by_a_wake_is_for_the_next_one)
{
    struct waitq q;
    struct mark m;

    waitq_init(&q);
    mark_init(&m);
    m.q = &q;
    waitq_add(&q, &m.w);
    waitq_wake(&q);
    CHECK_EQ(m.woken, 1);
    CHECK(!waitq_is_empty(&q));
    waitq_wake(&q);
    CHECK_EQ(m.woken, 2);
    waiter_remove(&m.w);
}

TEST(wait_queue_that_ends_wakes_and_forgets)
{
    struct waitq q;
    struct mark once, stays;

    waitq_init(&q);
    mark_init(&once);
    mark_init(&stays);
    stays.w.stays = true;
    waitq_add(&q, &once.w);
    waitq_add(&q, &stays.w);
    waitq_fini(&q);
    CHECK_EQ(once.woken, 1);
    CHECK_EQ(stays.woken, 1);
    CHECK(list_is_empty(&stays.w.link));
    CHECK(waitq_is_empty(&q));
}

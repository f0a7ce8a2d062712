#include "rpc/relief.h"

#include "test.h"

#include <sched.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

struct borrower {
    struct relief *r;
    atomic_uint n_loops;
};

static void *
borrow(void *arg)
{
    struct borrower *b = arg;

    while (relief_wait(b->r))
        b->n_loops++;
    return NULL;
}

static void
wait_until_ready(struct relief *r)
{
    while (!relief_is_ready(r))
        (void)sched_yield();
}

TEST(relief_takes_the_loop_when_there_is_something_for_it)
{
    int hfd = eventfd(0, EFD_NONBLOCK);
    struct relief r;
    struct borrower b = {.r = &r};
    uint64_t one = 1;

    relief_init(&r, &hfd, 1);
    CHECK(!relief_is_ready(&r));
    relief_start(&r, borrow, &b);
    wait_until_ready(&r);
    relief_lend(&r);
    CHECK(relief_take_back(&r));
    CHECK(!relief_take_back(&r));
    CHECK_EQ(write(hfd, &one, sizeof one), sizeof one);
    relief_lend(&r);
    while (!b.n_loops)
        (void)sched_yield();
    CHECK(!relief_take_back(&r));
    relief_end(&r);
    relief_join(&r);
    CHECK_EQ(b.n_loops, 1);
    relief_fini(&r);
    close(hfd);
}

TEST(relief_is_never_ready_where_it_cannot_wait)
{
    int file_hfd = memfd_create("file", 0); /* as epoll refuses it */
    struct relief r;
    struct borrower b = {.r = &r};

    relief_init(&r, &file_hfd, 1);
    CHECK(r.hfd < 0 && r.events_hfd < 0);
    relief_start(&r, borrow, &b);
    CHECK(!r.has_thread);
    CHECK(!relief_is_ready(&r));
    relief_end(&r);
    relief_join(&r);
    relief_fini(&r);
    close(file_hfd);
}

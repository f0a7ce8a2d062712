/* The two threads of the server's loop, over a server of this file. */
#include "rpc/leader.h"

#include "rpc/slot.h"
#include "test.h"

#include <errno.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

struct wsand_sandbox {
    bool is_busy;
    unsigned n_entered, n_left;
};

/* The loop runs one request and ends. */
struct fixture {
    struct server srv;
    struct wsand_sandbox sb;
    struct slot slot;
    struct message msg;
    struct method method;
    struct job job;
    int hfd;
    bool has_input;       /* arrives while the request runs */
    bool was_run;         /* what leader_run returned */
    bool is_back;         /* the loop, after the request */
    atomic_uint n_others; /* iterations of the other thread */
    pthread_t thread;
};

/* --- the rest of the server */

int
wsand_enter(struct wsand_sandbox *sb)
{
    if (sb->is_busy)
        return -EBUSY;
    sb->n_entered++;
    return 0;
}

void
wsand_leave(struct wsand_sandbox *sb)
{
    sb->n_left++;
}

static void
make_ready(const struct fixture *f)
{
    uint64_t one = 1;

    if (write(f->hfd, &one, sizeof one) < 0)
        return; /* of a file: it is always ready */
}

void
job_run(struct wsand_sandbox *sb, void *arg)
{
    struct fixture *f = CONTAINER_OF(job_of(arg), struct fixture, job);

    CHECK(sb == &f->sb && sb->n_left < sb->n_entered);
    CHECK(!leader_is_here(&f->srv.leader));
    if (!f->has_input)
        return;
    make_ready(f);
    while (!f->n_others)
        (void)sched_yield();
}

static enum leader_step
step(void *arg)
{
    struct fixture *f = arg;

    CHECK(leader_is_here(&f->srv.leader));
    if (!pthread_equal(f->thread, pthread_self())) {
        f->n_others++;
        return LEADER_OVER;
    }
    while (f->srv.leader.has_thread && !f->srv.leader.n_followers)
        (void)sched_yield();
    f->was_run = leader_run(&f->job.call);
    f->is_back = leader_is_here(&f->srv.leader);
    if (!f->is_back)
        return LEADER_LENT;
    make_ready(f);
    return LEADER_OVER;
}

static void
fixture_loop(struct fixture *f, int hfd)
{
    f->hfd = hfd;
    f->thread = pthread_self();
    f->slot.sb = &f->sb;
    f->job.slot = &f->slot;
    f->job.call.peer = &f->srv.peer;
    f->job.call.msg = &f->msg;
    f->job.call.method = &f->method;
    f->srv.peer.n_calls = 1;
    leader_init(&f->srv.leader, &hfd, 1);
    leader_loop(&f->srv.leader, step, f);
    CHECK(leader_is_here(&f->srv.leader));
    leader_fini(&f->srv.leader);
    close(hfd);
}

/* --- tests */

TEST(leader_keeps_the_loop_if_nothing_arrives)
{
    struct fixture f = {0};

    fixture_loop(&f, eventfd(0, EFD_NONBLOCK));
    CHECK(f.was_run && f.is_back);
    CHECK_EQ(f.n_others, 0);
    CHECK_EQ(f.sb.n_left, 1);
}

TEST(leader_is_followed_when_input_arrives)
{
    struct fixture f = {.has_input = true};

    fixture_loop(&f, eventfd(0, EFD_NONBLOCK));
    CHECK(f.was_run && !f.is_back);
    CHECK_EQ(f.n_others, 1);
    CHECK_EQ(f.sb.n_left, 1);
}

TEST(leader_leaves_a_busy_sandbox_alone)
{
    struct fixture f = {.sb = {.is_busy = true}};

    fixture_loop(&f, eventfd(0, EFD_NONBLOCK));
    CHECK(!f.was_run && f.is_back);
}

TEST(leader_does_not_lend_the_loop_beside_other_requests)
{
    struct fixture one = {.msg = {.is_batch = true}};
    struct fixture two = {.method = {.flags = BESIDE}};
    struct fixture three = {.srv = {.is_ending = true}};

    fixture_loop(&one, eventfd(0, EFD_NONBLOCK));
    fixture_loop(&two, eventfd(0, EFD_NONBLOCK));
    fixture_loop(&three, eventfd(0, EFD_NONBLOCK));
    CHECK(!one.was_run && !two.was_run && !three.was_run);
}

TEST(leader_has_no_follower_where_epoll_cannot_wait)
{
    struct fixture f = {0};

    fixture_loop(&f, memfd_create("file", 0)); /* as epoll refuses it */
    CHECK(!f.srv.leader.has_thread);
    CHECK(!f.was_run && f.is_back);
}

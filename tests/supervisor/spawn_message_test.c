#include "supervisor/workers/spawner.h"

#include "../unit/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void
make_pair(int v[2])
{
    CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, v), 0);
}

static void
close_pair(const int v[2])
{
    close(v[0]);
    close(v[1]);
}

TEST(an_order_arrives_as_it_was_given)
{
    char *argv[] = {"sh", "-c", "", NULL}, *envp[] = {"A=1", NULL};
    const char *read[] = {"/usr", NULL};
    struct spawn_order o = {.id = 7, .is_command = 1, .limit = {1, 2, 3}};
    struct spawn_request *b = malloc(sizeof *b);
    int v[2];

    make_pair(v);
    CHECK_EQ(spawn_send_order(v[0], &o, argv, envp, read), 0);
    CHECK_EQ(spawn_take_order(v[1], b), 0);
    CHECK_EQ(b->o.id, 7);
    CHECK_EQ(b->o.limit[2], 3);
    CHECK(!strcmp(b->argv[1], "-c") && !*b->argv[2] && !b->argv[3]);
    CHECK(!strcmp(b->envp[0], "A=1") && !b->envp[1]);
    CHECK(!strcmp(b->read[0], "/usr") && !b->read[1]);
    CHECK_EQ(spawn_send_order(v[0], &o, argv, NULL, NULL), 0);
    CHECK_EQ(spawn_take_order(v[1], b), 0);
    CHECK(!b->envp[0] && !b->read[0]);
    close(v[0]);
    CHECK_EQ(spawn_take_order(v[1], b), -EPIPE);
    close(v[1]);
    free(b);
}

TEST(an_order_that_is_too_long_is_refused)
{
    static char word[SPAWN_ORDER_BYTES];
    char *argv[] = {word, NULL}, *many[SPAWN_ARGS_MAX + 1] = {NULL};
    struct spawn_order o = {.id = 1};
    int v[2];

    make_pair(v);
    memset(word, 'x', sizeof word - 1);
    CHECK_EQ(spawn_send_order(v[0], &o, argv, NULL, NULL), -E2BIG);
    for (int i = 0; i < SPAWN_ARGS_MAX; i++)
        many[i] = "";
    CHECK_EQ(spawn_send_order(v[0], &o, many, NULL, NULL), -E2BIG);
    close_pair(v);
}

TEST(an_order_of_another_form_is_refused)
{
    struct spawn_request *b = malloc(sizeof *b);
    struct spawn_order o = {.n_argv = 1};
    int v[2];

    make_pair(v);
    CHECK_EQ(send(v[0], "x", 1, 0), 1);
    CHECK_EQ(spawn_take_order(v[1], b), -EBADMSG);
    CHECK_EQ(send(v[0], &o, sizeof o, 0), (ssize_t)sizeof o);
    CHECK_EQ(spawn_take_order(v[1], b), -EBADMSG);
    o.n_argv = SPAWN_ARGS_MAX;
    CHECK_EQ(send(v[0], &o, sizeof o, 0), (ssize_t)sizeof o);
    CHECK_EQ(spawn_take_order(v[1], b), -EBADMSG);
    close_pair(v);
    free(b);
}

TEST(an_answer_brings_its_descriptors)
{
    struct spawn_answer a = {.id = 3, .pid = 5, .where = "here"}, got;
    int v[2], one[2];

    make_pair(v);
    CHECK_EQ(pipe(one), 0);
    memset(a.hfd, 0xff, sizeof a.hfd);
    a.hfd[SPAWN_WORDS] = one[0];
    a.hfd[SPAWN_GROUP + 1] = one[1];
    CHECK_EQ(spawn_take_answer(v[1], &got), -EAGAIN);
    CHECK_EQ(spawn_send_answer(v[0], &a), 0);
    CHECK_EQ(spawn_take_answer(v[1], &got), 0);
    CHECK_EQ(got.id, 3);
    CHECK_EQ(got.hfd[SPAWN_PID], -1);
    CHECK(got.hfd[SPAWN_WORDS] != one[0] && got.hfd[SPAWN_GROUP + 1] >= 0);
    CHECK_EQ(write(got.hfd[SPAWN_GROUP + 1], "x", 1), 1);
    close(got.hfd[SPAWN_WORDS]);
    close(got.hfd[SPAWN_GROUP + 1]);
    close_pair(one);
    close(v[0]);
    CHECK_EQ(spawn_take_answer(v[1], &got), -EPIPE);
    close(v[1]);
}

TEST(descriptors_of_an_answer_that_is_nobodys_are_closed)
{
    struct spawn_answer a = {.id = 3}, got;
    int v[2], one[2], before;

    make_pair(v);
    CHECK_EQ(pipe(one), 0);
    before = dup(0);
    close(before);
    memset(a.hfd, 0xff, sizeof a.hfd);
    a.hfd[SPAWN_WORDS] = one[0];
    CHECK_EQ(spawn_send_answer(v[0], &a), 0);
    CHECK_EQ(spawn_take_answer(v[1], &got), 0);
    spawn_drop_answer(&got);
    CHECK_EQ(got.hfd[SPAWN_WORDS], -1);
    CHECK_EQ(dup(0), before);
    close(before);
    close_pair(one);
    close_pair(v);
}

TEST(descriptors_of_what_is_no_answer_are_closed)
{
    struct spawn_answer got;
    struct cgroup_host h = {.n = 1};
    int v[2], one[2], before;

    make_pair(v);
    CHECK_EQ(pipe(one), 0);
    before = dup(0);
    close(before);
    h.hier[0].parent_hfd = one[0];
    CHECK_EQ(spawn_send_host(v[0], &h), 0);
    CHECK(spawn_take_answer(v[1], &got) < 0);
    CHECK_EQ(dup(0), before);
    close(before);
    close_pair(one);
    close_pair(v);
}

/* Captured output. */
#include "kernel/capture.h"
#include "world.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static void
add(struct capture *c, const char *text)
{
    capture_add(c, text, strlen(text));
}

/* What is taken from it, which ends it. */
static bool
has(OWN struct capture *c, const char *text, uint64_t dropped)
{
    size_t len;
    char *data = capture_take(c, &len);
    bool is = len == strlen(text) && !memcmp(data, text, len) &&
              c->dropped == dropped;

    free(data);
    capture_put(c);
    return is;
}

static OWN struct capture *
both_ends(size_t max, size_t head)
{
    struct capture *c = capture_new(max, false);

    c->head = head;
    return c;
}

TEST(capture_keeps_the_first_bytes)
{
    struct capture *c = capture_new(4, false);
    add(c, "abc");
    add(c, "def");
    CHECK(has(c, "abcd", 2));
}

TEST(capture_keeps_all_up_to_its_limit_with_both_ends)
{
    struct capture *c = both_ends(6, 2);
    add(c, "abc");
    add(c, "def");
    CHECK(has(c, "abcdef", 0));
}

TEST(capture_keeps_both_ends)
{
    struct capture *c = both_ends(6, 2);
    add(c, "abcdef");
    add(c, "g");
    CHECK(has(c, "abdefg", 1));

    c = both_ends(6, 2);
    add(c, "abcde");
    add(c, "fghij");
    add(c, "kl");
    CHECK(has(c, "abijkl", 6));

    c = both_ends(6, 2);
    add(c, "a");
    add(c, "bcdefghijklmnopqrstuvwxyz");
    CHECK(has(c, "abwxyz", 20));
}

static void
count(void *arg, const char *p, size_t len)
{
    (void)p;
    *(size_t *)arg += len;
}

TEST(capture_tells_of_all_bytes)
{
    struct capture *c = capture_new(2, false);
    size_t told = 0;
    c->on_bytes = count;
    c->arg = &told;
    add(c, "abc");
    add(c, "def");
    CHECK_EQ(told, 6);
    CHECK(has(c, "ab", 4));
}

/* --- the standard streams of commands */

static const struct streams_options plain = {.out_max = 100, .err_max = 100};

/* A task with the streams of a first command, which has ended. */
struct shell_like {
    struct kernel *k;
    struct task *t;
    struct streams io;
    struct capture *later;
};

static void
shell_like_close(struct shell_like *s)
{
    streams_close(&s->io, s->later);
}

static struct shell_like
shell_like_new(void)
{
    struct shell_like s = {.k = world_new()};

    s.t = world_task(s.k);
    s.later = capture_new(100, true);
    CHECK_EQ(streams_open(&s.io, s.t, &plain), 0);
    shell_like_close(&s);
    return s;
}

static void
shell_like_end(struct shell_like *s)
{
    streams_fini(&s->io);
    kernel_free(s->k);
    CHECK_EQ(s->later->refs, 1);
    capture_put(s->later);
}

static struct file *
stream(const struct shell_like *s, int fd)
{
    return s->t->fds.v[fd].file;
}

TEST(streams_are_used_again_and_look_new)
{
    struct shell_like s = shell_like_new();
    struct file *before[] = {stream(&s, 0), stream(&s, 1), stream(&s, 2)};
    uint64_t ino = before[2]->anon_ino;

    before[1]->flags |= O_NONBLOCK;
    CHECK_EQ(world_write(before[1], s.t, "late"), 4);
    CHECK_EQ(streams_open(&s.io, s.t, &plain), 0);
    for (int i = 0; i < 3; i++) {
        CHECK(stream(&s, i) == before[i]);
        CHECK_EQ(before[i]->anon_ino, ino + 1 + (uint64_t)i);
    }
    CHECK_EQ(before[1]->flags, O_WRONLY);
    CHECK_EQ(s.io.out->len, 0);
    CHECK_EQ(world_write(before[1], s.t, "out"), 3);
    CHECK_EQ(world_write(before[2], s.t, "error"), 5);
    CHECK_EQ(s.io.out->len, 3);
    CHECK_EQ(s.io.err->len, 5);
    CHECK_EQ(s.later->len, 4);
    shell_like_close(&s);
    shell_like_end(&s);
}

/* A process of the last command may still write: its output is not that of the
 * next one. */
TEST(streams_that_a_process_has_are_replaced)
{
    struct shell_like s = shell_like_new();
    struct file *other = file_get(stream(&s, 1));

    CHECK_EQ(streams_open(&s.io, s.t, &plain), 0);
    CHECK(stream(&s, 1) != other);
    CHECK_EQ(world_write(other, s.t, "background"), 10);
    CHECK_EQ(s.io.out->len, 0);
    CHECK_EQ(s.later->len, 10);
    file_put(other);
    shell_like_close(&s);
    shell_like_end(&s);
}

TEST(streams_that_the_shell_has_redirected_are_replaced)
{
    struct shell_like s = shell_like_new();

    CHECK_EQ(fd_replace(s.t, 1, file_get(stream(&s, 2)), false), 1);
    CHECK_EQ(fd_close(s.t, 0), 0);
    CHECK_EQ(streams_open(&s.io, s.t, &plain), 0);
    CHECK(stream(&s, 0) && stream(&s, 1)->obj == s.io.out);
    CHECK(stream(&s, 2)->obj == s.io.err);
    shell_like_close(&s);
    shell_like_end(&s);
}

TEST(streams_change_with_the_options)
{
    struct shell_like s = shell_like_new();
    struct streams_options o = {.input = "abc", .input_len = 3, .out_max = 4};

    CHECK_EQ(streams_open(&s.io, s.t, &o), 0);
    CHECK(world_reads(stream(&s, 0), s.t, "abc"));
    shell_like_close(&s);
    o = (struct streams_options){
        .out_max = 8, .keep_ends = true, .merge = true};
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(streams_open(&s.io, s.t, &o), 0);
        CHECK(world_reads(stream(&s, 0), s.t, ""));
        CHECK(stream(&s, 2)->obj == s.io.out);
        CHECK_EQ(s.io.out->max, 8);
        CHECK_EQ(s.io.out->head, 4);
        shell_like_close(&s);
    }
    CHECK_EQ(streams_open(&s.io, s.t, &plain), 0);
    CHECK(stream(&s, 2)->obj == s.io.err);
    CHECK_EQ(s.io.out->head, 0);
    shell_like_close(&s);
    shell_like_end(&s);
}

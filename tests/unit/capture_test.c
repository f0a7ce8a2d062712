/* Captured output. */
#include "kernel/capture.h"
#include "test.h"

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

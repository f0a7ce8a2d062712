/* The first message of a TLS client, put together by the tests. */
#include "net/hello.h"

#include "test.h"

#include <string.h>

enum { SPACE = HELLO_BYTES_MAX + 64 };

struct hello {
    uint8_t bytes[SPACE];
    size_t len;
};

static void
put(struct hello *h, size_t n, size_t bytes)
{
    while (bytes--)
        h->bytes[h->len++] = (uint8_t)(n >> 8 * bytes);
}

static void
put_extension(struct hello *h, size_t kind, const void *p, size_t len)
{
    put(h, kind, 2);
    put(h, len, 2);
    memcpy(h->bytes + h->len, p, len);
    h->len += len;
}

static void
put_name(struct hello *h, const char *name)
{
    uint8_t list[300] = {0};
    size_t n = strlen(name);

    list[1] = (uint8_t)(n + 3);
    list[4] = (uint8_t)n;
    memcpy(list + 5, name, n);
    put_extension(h, 0, list, n + 5);
}

/* Begins a message; its lengths are filled in by finish. */
static void
start(struct hello *h)
{
    *h = (struct hello){.len = 0};
    put(h, 22, 1);
    put(h, 0x0301, 2);
    put(h, 0, 2);
    put(h, 1, 1);
    put(h, 0, 3);
    put(h, 0x0303, 2);
    h->len += 32;
    put(h, 0, 1);
    put(h, 2, 2);
    put(h, 0x1301, 2);
    put(h, 1, 1);
    put(h, 0, 1);
    put(h, 0, 2); /* of the extensions, at 50 */
}

static void
set_number(struct hello *h, size_t at, size_t n)
{
    h->bytes[at] = (uint8_t)(n >> 8);
    h->bytes[at + 1] = (uint8_t)n;
}

static void
finish(struct hello *h)
{
    set_number(h, 3, h->len - 5);
    set_number(h, 7, h->len - 9);
    set_number(h, 50, h->len - 52);
}

static enum hello_verdict
check(const struct hello *h, size_t len)
{
    static uint8_t space[HELLO_BYTES_MAX];

    return hello_check(h->bytes, len, "web.example", space);
}

static void
make(struct hello *h, const char *name)
{
    start(h);
    put_extension(h, 43, "\2\3\4", 3);
    put_name(h, name);
    finish(h);
}

TEST(hello_asks_for_its_name)
{
    struct hello h;

    make(&h, "web.example");
    for (size_t i = 0; i < h.len; i++)
        CHECK_EQ(check(&h, i), HELLO_MORE);
    CHECK_EQ(check(&h, h.len), HELLO_ASKS);
    CHECK_EQ(check(&h, h.len + 9), HELLO_ASKS); /* early data */
    make(&h, "WEB.Example");
    CHECK_EQ(check(&h, h.len), HELLO_ASKS);
}

TEST(hello_for_another_name_is_bad)
{
    static const char *const names[] = {"other.example", "web.example.evil",
                                        "eb.example", "", "127.0.0.1"};
    struct hello h;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        make(&h, names[i]);
        CHECK_EQ(check(&h, h.len), HELLO_BAD);
    }
    start(&h);
    finish(&h);
    CHECK_EQ(check(&h, h.len), HELLO_BAD); /* without a name */
}

TEST(hello_with_two_names_or_a_hidden_one_is_bad)
{
    static const size_t hiding[] = {0xfe0d, 0xffce};
    struct hello h;

    start(&h);
    put_name(&h, "web.example");
    put_name(&h, "web.example");
    finish(&h);
    CHECK_EQ(check(&h, h.len), HELLO_BAD);
    for (size_t i = 0; i < 2; i++) {
        start(&h);
        put_name(&h, "web.example");
        put_extension(&h, hiding[i], "x", 1);
        finish(&h);
        CHECK_EQ(check(&h, h.len), HELLO_BAD);
    }
    make(&h, "web.example"); /* a second name in the list */
    h.bytes[h.len - 15] = (uint8_t)(h.bytes[h.len - 15] + 1);
    CHECK_EQ(check(&h, h.len), HELLO_BAD);
}

TEST(hello_may_be_long_and_in_several_records)
{
    static const uint8_t key_share[4000];
    struct hello h, cut = {.len = 0};

    start(&h);
    put_extension(&h, 51, key_share, sizeof key_share);
    put_name(&h, "web.example");
    finish(&h);
    CHECK_EQ(check(&h, h.len), HELLO_ASKS);
    for (size_t at = 5; at < h.len; at += 1000) {
        size_t n = h.len - at < 1000 ? h.len - at : 1000;
        put(&cut, 22, 1);
        put(&cut, 0x0303, 2);
        put(&cut, n, 2);
        memcpy(cut.bytes + cut.len, h.bytes + at, n);
        cut.len += n;
    }
    CHECK_EQ(check(&cut, cut.len - 1), HELLO_MORE);
    CHECK_EQ(check(&cut, cut.len), HELLO_ASKS);
}

TEST(hello_that_is_none_is_bad)
{
    static const char *const texts[] = {"GET / HTTP/1.1\r\n", "SSH-2.0-x\r\n",
                                        "\x80\x2e\x01\x00\x02", "\x16\x02\x01",
                                        "\x17\x03\x03\x00\x01x"};
    struct hello h;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        memset(&h, 0, sizeof h);
        memcpy(h.bytes, texts[i], strlen(texts[i]));
        CHECK_EQ(check(&h, 8), HELLO_BAD);
    }
    make(&h, "web.example");
    h.bytes[5] = 2; /* a message of a server */
    CHECK_EQ(check(&h, h.len), HELLO_BAD);
    make(&h, "web.example");
    set_number(&h, 3, h.len - 4); /* a record with more than the message */
    CHECK_EQ(check(&h, h.len + 1), HELLO_BAD);
    make(&h, "web.example");
    h.bytes[6] = 1; /* longer than any */
    CHECK_EQ(check(&h, h.len), HELLO_BAD);
    CHECK_EQ(check(&h, HELLO_BYTES_MAX + 1), HELLO_BAD);
}

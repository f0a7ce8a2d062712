#include "net/dns.h"
#include "net/names.h"

#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Writes a question for a name with dots. Returns its length. */
static size_t
ask(uint8_t *to, const char *name, uint16_t type)
{
    static const uint8_t head[] = {0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    uint8_t *at = to + sizeof head, *label = at++;

    memcpy(to, head, sizeof head);
    for (;; name++) {
        if (*name && *name != '.') {
            *at++ = (uint8_t)*name;
            continue;
        }
        *label = (uint8_t)(at - label - 1);
        label = at++;
        if (!*name)
            break;
    }
    *label = 0;
    *at++ = (uint8_t)(type >> 8);
    *at++ = (uint8_t)type;
    *at++ = 0;
    *at++ = 1;
    return (size_t)(at - to);
}

TEST(a_question_has_a_canonical_name)
{
    struct dns_question q;
    uint8_t p[DNS_BYTES_MAX];

    size_t n = ask(p, "Web.Example", DNS_AAAA);
    CHECK(dns_question_parse(p, n, &q));
    CHECK(q.is_query && q.wants_recursion);
    CHECK_EQ(q.id, 0x1234);
    CHECK_EQ(q.type, DNS_AAAA);
    CHECK_EQ(q.len, n);
    CHECK(!strcmp(q.name, "web.example"));
    n = ask(p, "a b.example", DNS_A);
    CHECK(dns_question_parse(p, n, &q));
    CHECK(!q.name_len && !*q.name);
    p[5] = 2;
    CHECK(dns_question_parse(p, n, &q) && !q.is_query);
}

TEST(a_question_that_is_cut_off_or_compressed_is_dropped)
{
    struct dns_question q;
    uint8_t p[DNS_BYTES_MAX + 1];
    size_t n = ask(p, "web.example", DNS_A);

    for (size_t i = 0; i < n; i++)
        CHECK(!dns_question_parse(p, i, &q));
    CHECK(!dns_question_parse(p, sizeof p, &q));
    p[12] = 0xc0;
    CHECK(!dns_question_parse(p, n, &q));
    (void)ask(p, "web.example", DNS_A);
    p[2] |= 0x80;
    CHECK(!dns_question_parse(p, n, &q));
}

TEST(an_answer_repeats_the_question)
{
    static const uint8_t v4[] = {198, 18, 0, 1};
    uint8_t p[DNS_BYTES_MAX], a[DNS_BYTES_MAX];
    struct dns_question q;

    size_t n = ask(p, "Web.Example", DNS_A);
    CHECK(dns_question_parse(p, n, &q));
    CHECK_EQ(dns_answer_address(&q, v4, a), n + 16);
    CHECK(!memcmp(a + 12, p + 12, n - 12));
    CHECK(!memcmp(a, "\x12\x34\x81\x80\0\1\0\1\0\0\0\0", 12));
    CHECK(!memcmp(a + n, "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc6\x12\0\1", 16));
    CHECK_EQ(dns_answer_empty(&q, DNS_NO_NAME, a), n);
    CHECK(!memcmp(a + 2, "\x81\x83\0\1\0\0", 6));
    CHECK_EQ(dns_answer_name(&q, "b.example", a), n + 12 + 11);
    CHECK(!memcmp(a + n + 12, "\1b\7example\0", 11));
}

TEST(the_name_of_an_address_is_asked_backwards)
{
    static const char *const bad[] = {
        "1.0.18.in-addr.arpa", "1.0.18.198.1.in-addr.arpa",
        "256.0.18.198.in-addr.arpa", "x.0.18.198.in-addr.arpa",
        "1.0.18.198.ip6.arpa"};
    uint8_t p[DNS_BYTES_MAX], v4[4];
    struct dns_question q;

    CHECK(
        dns_question_parse(p, ask(p, "7.0.18.198.in-addr.arpa", DNS_PTR), &q));
    CHECK(dns_question_address(&q, v4));
    CHECK(!memcmp(v4, "\xc6\x12\0\7", 4));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(dns_question_parse(p, ask(p, bad[i], DNS_PTR), &q));
        CHECK(!dns_question_address(&q, v4));
    }
}

TEST(a_name_keeps_its_address)
{
    struct names t, copy;
    uint8_t a[4], b[4];

    names_init(&t);
    names_init(&copy);
    CHECK(!names_find(&t, (const uint8_t[]){198, 18, 0, 1}));
    CHECK_EQ(names_add(&t, "a.example", a), 0);
    CHECK(!memcmp(a, "\xc6\x12\0\1", 4));
    CHECK_EQ(names_add(&t, "b.example", b), 0);
    CHECK(memcmp(a, b, 4) != 0);
    CHECK_EQ(names_add(&t, "a.example", b), 0);
    CHECK(!memcmp(a, b, 4));
    CHECK(!strcmp(names_find(&t, a), "a.example"));
    CHECK(!names_find(&t, (const uint8_t[]){198, 18, 0, 3}));
    CHECK(!names_find(&t, (const uint8_t[]){10, 0, 0, 1}));
    CHECK_EQ(names_copy(&copy, &t), 0);
    CHECK(!strcmp(names_find(&copy, a), "a.example"));
    names_fini(&t);
    names_fini(&copy);
}

TEST(the_number_of_names_is_limited)
{
    struct names t;
    char name[32];
    uint8_t v4[4];

    names_init(&t);
    for (int i = 0; i < NAMES_MAX; i++) {
        (void)snprintf(name, sizeof name, "n%d.example", i);
        CHECK_EQ(names_add(&t, name, v4), 0);
        CHECK(!strcmp(names_find(&t, v4), name));
    }
    CHECK_EQ(names_add(&t, "one.more.example", v4), -ENOSPC);
    CHECK_EQ(names_add(&t, "n7.example", v4), 0);
    names_fini(&t);
}

TEST(names_without_memory_are_not_added)
{
    uint8_t v4[4];

    EACH_OOM(oom) {
        struct names t;
        names_init(&t);
        int r = names_add(&t, "a.example", v4);
        CHECK_EQ(r, test_alloc_failed() ? -ENOMEM : 0);
        names_fini(&t);
    }
}

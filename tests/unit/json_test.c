/* Trees of JSON values. */
#include "base/json.h"

#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
json_try(const char *text, struct json_doc *ret)
{
    struct json_fault fault;

    return json_read_copy(ret, text, strlen(text), &fault);
}

static bool
json_is_refused(const char *text)
{
    struct json_doc d = {0};
    int r = json_try(text, &d);

    json_fini(&d);
    return r == -EINVAL;
}

TEST(strings_are_decoded_where_they_stand)
{
    struct json_doc d;

    CHECK_EQ(json_try("[\"\",\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\",\"\\u0000x\","
                      "\"\\u00e9\\u20ac\\ud83d\\ude00\",\"h\xc3\xa9\"]",
                      &d),
             0);
    static const struct text wanted[] = {
        {"", 0},
        {"a\"\\/\b\f\n\r\tz", 10},
        {"\0x", 2},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9},
        {"h\xc3\xa9", 3}};
    size_t i = 0;
    JSON_EACH(v, d.v) {
        CHECK(v->text.len == wanted[i].len);
        CHECK(!memcmp(v->text.p, wanted[i].p, wanted[i].len + 1));
        i++;
    }
    CHECK_EQ(i, sizeof wanted / sizeof *wanted);
    json_fini(&d);
}

TEST(numbers_keep_their_text_and_have_a_type)
{
    struct json_doc d;
    static const struct {
        const char *text;
        enum json_type type;
    } rows[] = {{"0", JSON_INTEGER},
                {"-0", JSON_INTEGER},
                {"9223372036854775807", JSON_INTEGER},
                {"-9223372036854775808", JSON_INTEGER},
                {"9223372036854775808", JSON_HUGE},
                {"-9223372036854775809", JSON_HUGE},
                {"1.0", JSON_REAL},
                {"1e3", JSON_REAL},
                {"1e-999", JSON_REAL},
                {"1e999", JSON_HUGE},
                {"-1e999", JSON_HUGE}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_EQ(json_try(rows[i].text, &d), 0);
        CHECK_EQ(d.v->type, rows[i].type);
        CHECK(text_is(d.v->text, rows[i].text));
        CHECK_EQ(d.has_huge, rows[i].type == JSON_HUGE);
        json_fini(&d);
    }
}

TEST(one_and_one_point_zero_are_whole)
{
    struct json_doc d;
    int64_t n = 0;

    CHECK_EQ(json_try("[1, 1.0, 1e3, -2.0, 1.5, 1e300, true, \"1\"]", &d), 0);
    static const int64_t wanted[] = {1, 1, 1000, -2};
    size_t i = 0;
    JSON_EACH(v, d.v) {
        CHECK_EQ(json_whole(v, &n), i < 4);
        CHECK(i >= 4 || n == wanted[i]);
        i++;
    }
    json_fini(&d);
}

TEST(members_are_found_and_listed_in_their_order)
{
    struct json_doc d;
    const char *names = "abc";

    CHECK_EQ(json_try("{\"a\":{\"b\":[1,[2]]},\"b\":null,\"c\":[]}", &d), 0);
    JSON_EACH_KEY(key, d.v) {
        CHECK(key->text.len == 1 && *key->text.p == *names);
        names++;
    }
    CHECK(!*names);
    CHECK_EQ(json_count(d.v), 3);
    CHECK_EQ(json_count(json_get(json_get(d.v, "a"), "b")), 2);
    CHECK(json_is(json_get(d.v, "b"), JSON_NULL));
    CHECK(!json_get(d.v, "d") && !json_get(json_get(d.v, "b"), "x"));
    CHECK(!json_first(json_get(d.v, "c")));
    json_fini(&d);
}

/* --- strictness */

TEST(keys_that_come_twice_are_refused)
{
    char many[4096] = "{";
    size_t len = 1;

    CHECK(json_is_refused("{\"a\":1,\"a\":1}"));
    CHECK(json_is_refused("{\"a\":1,\"\\u0061\":1}"));
    CHECK(json_is_refused("[{\"x\":{\"a\":1,\"b\":2,\"a\":3}}]"));
    CHECK(!json_is_refused("{\"a\":{\"a\":1},\"b\":{\"a\":1}}"));
    for (int i = 0; i < 100; i++)
        len +=
            (size_t)sprintf(many + len, "%s\"key%d\":%d", i ? "," : "", i, i);
    strcpy(many + len, "}");
    CHECK(!json_is_refused(many));
    strcpy(many + len, ",\"key7\":0}");
    CHECK(json_is_refused(many));
}

TEST(levels_are_bounded)
{
    enum { N = JSON_LEVELS_MAX };
    char *text = malloc(2 * N + 4);

    memset(text, '[', N);
    memset(text + N, ']', N);
    text[2 * N] = 0;
    CHECK(!json_is_refused(text));
    text[N] = '1'; /* is on a level of its own */
    memset(text + N + 1, ']', N);
    text[2 * N + 1] = 0;
    CHECK(json_is_refused(text));
    memset(text, '[', N + 1);
    memset(text + N + 1, ']', N + 1);
    text[2 * N + 2] = 0;
    CHECK(json_is_refused(text));
    free(text);
}

TEST(texts_that_are_not_json_are_refused)
{
    static const char *const bad[] = {"",
                                      " ",
                                      "{",
                                      "[1,]",
                                      "{\"a\":1,}",
                                      "01",
                                      "1.",
                                      "-",
                                      "+1",
                                      ".5",
                                      "\"\\x\"",
                                      "\"\n\"",
                                      "\"\\ud800\"",
                                      "\"\\udc00\\ud800\"",
                                      "\"\xff\"",
                                      "\"\xed\xa0\x80\"",
                                      "\"\xf4\x90\x80\x80\"",
                                      "nul",
                                      "[1] 2",
                                      "'a'",
                                      "{\"a\\u0000\":1}",
                                      "\xef\xbb\xbf[]",
                                      "NaN",
                                      "Infinity",
                                      "[1}",
                                      "{]"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(json_is_refused(bad[i]));
}

TEST(a_fault_says_where_it_is)
{
    struct json_fault fault = {0};
    struct json_doc d;
    static const char text[] = "{\"a\": 1, \"a\": 2}";

    CHECK_EQ(json_read_copy(&d, text, strlen(text), &fault), -EINVAL);
    CHECK(!strcmp(fault.text, "a key comes twice"));
    CHECK_EQ(fault.offset, strlen("{\"a\": 1, \""));
}

TEST(reading_survives_any_failed_allocation)
{
    EACH_OOM(oom) {
        struct json_doc d = {0};
        int r = json_try("{\"a\":[1,2,{\"b\":\"c\"}],\"d\":null}", &d);
        CHECK(r == 0 || r == -ENOMEM);
        json_fini(&d);
    }
}

/* --- a locale whose decimal point is a comma: numbers of JSON have a point */

double __real_strtod(const char *s, char **end);
double __wrap_strtod(const char *s, char **end);

static bool has_comma;

double
__wrap_strtod(const char *s, char **end)
{
    char copy[1024] = "";

    if (!has_comma || !strchr(s, '.'))
        return __real_strtod(s, end);
    memcpy(copy, s, strcspn(s, "."));
    return __real_strtod(copy, end);
}

TEST(numbers_do_not_depend_on_the_locale)
{
    static const int64_t wanted[] = {1500, -25, 3, 0, 1};
    struct json_doc d;
    int64_t n = -1;
    size_t i = 0;

    has_comma = true;
    CHECK_EQ(json_try("[1.5e3,-0.25E+2,300.0e-2,-0.0,0.001e3]", &d), 0);
    JSON_EACH(v, d.v) {
        CHECK(json_whole(v, &n));
        CHECK_EQ(n, wanted[i++]);
    }
    has_comma = false;
    json_fini(&d);
}

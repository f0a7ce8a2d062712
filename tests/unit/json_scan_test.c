/* JSON that is checked and passed on without a tree. */
#include "test.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

static bool
is_json(const char *s)
{
    return json_is_valid((struct text){s, strlen(s)});
}

TEST(values_of_json_are_accepted)
{
    static const char *const good[] = {"0",
                                       "-0",
                                       "12",
                                       "1.5",
                                       "1e9",
                                       "1E+9",
                                       "-1.25e-3",
                                       "true",
                                       "false",
                                       "null",
                                       "\"\"",
                                       "\"a\"",
                                       "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
                                       "\"\\u0000\\u00e9\\ud83d\\ude00\"",
                                       "\"\xc3\xa9\"",
                                       "[]",
                                       "{}",
                                       "[ ]",
                                       "{ }",
                                       "[1,2]",
                                       "[[],{}]",
                                       "{\"a\":1}",
                                       "{\"a\":{\"b\":[1,{}]},\"c\":0}",
                                       " \t[ 1 , 2 ] \r",
                                       "\n{\n \"a\": 1\n}\n",
                                       "{\"a\" : 1 , \"b\" : [ ] }"};

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(is_json(good[i]));
}

TEST(what_is_not_json_is_refused)
{
    static const char *const bad[] = {"",
                                      " ",
                                      "a",
                                      "tru",
                                      "truee",
                                      "nul",
                                      "01",
                                      "-",
                                      "+1",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "1e+",
                                      "0x1",
                                      "1 2",
                                      "\"",
                                      "\"a",
                                      "\"\\\"",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\u12\x13\x14\"",
                                      "\"\\u123g\"",
                                      "\"\\ud800\"",
                                      "\"\\ud800\\u0041\"",
                                      "\"\\udc00\"",
                                      "\"\n\"",
                                      "\"\x01\"",
                                      "\"\xff\"",
                                      "\"\xc3\"",
                                      "\"\xed\xa0\x80\"",
                                      "[",
                                      "]",
                                      "[1",
                                      "[1,",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "{",
                                      "}",
                                      "{]",
                                      "[}",
                                      "{1:2}",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{\"a\":1 \"b\":2}",
                                      "{,}",
                                      "{}{}",
                                      "[1]]"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!is_json(bad[i]));
}

TEST(nesting_is_bounded)
{
    char deep[2 * JSON_SCAN_LEVELS_MAX + 3];
    size_t n = JSON_SCAN_LEVELS_MAX + 1;

    memset(deep, '[', n);
    memset(deep + n, ']', n);
    deep[2 * n] = 0;
    CHECK(!is_json(deep));
    CHECK(json_is_valid((struct text){deep + 1, 2 * n - 2}));
}

/* Every cut of a text ends within it: the sanitizer watches its end. */
TEST(a_text_that_ends_early_is_refused)
{
    static const char text[] =
        "{\"a\":[1.5e3,\"\\ud83d\\ude00\xc3\xa9\",true]}";

    for (size_t n = 0; n < sizeof text - 1; n++) {
        char *cut = malloc(n ? n : 1);
        memcpy(cut, text, n);
        CHECK(!json_is_valid((struct text){cut, n}));
        free(cut);
    }
}

TEST(members_are_found_as_they_are_written)
{
    static const char text[] =
        " { \"id\" : 5 ,\"\\u0061\":[1,{\"x\":2}], \"e\":{} } ";
    static const char *const names[] = {"id", "\\u0061", "e"};
    static const char *const values[] = {"5", "[1,{\"x\":2}]", "{}"};
    struct json_member m;
    struct json_scan s;
    size_t n = 0;

    CHECK(json_scan_begin((struct text){text, strlen(text)}, &s));
    for (; json_scan_next(&s, &m); n++) {
        CHECK(text_is(m.name, names[n]));
        CHECK(text_is(m.value, values[n]));
    }
    CHECK_EQ(n, 3);
    CHECK(!json_scan_begin((struct text){"[1]", 3}, &s));
    CHECK(json_scan_begin((struct text){"{}", 2}, &s));
    CHECK(!json_scan_next(&s, &m));
}

static bool
is_object(const char *text)
{
    struct json_member m;
    struct json_scan s;

    if (!json_scan_begin((struct text){text, strlen(text)}, &s))
        return false;
    while (json_scan_next(&s, &m))
        ;
    return json_scan_is_over(&s);
}

TEST(an_object_is_whole_after_its_last_member)
{
    static const char *const bad[] = {
        "",        "{",         "{\"a\":1",          "{\"a\":1,}",  "{,}",
        "{} {}",   "{}x",       "{\"a\" 1}",         "{\"a\":}",    "{a:1}",
        "{\"a\"}", "{\"a\":1]", "{\"a\":1 \"b\":2}", "{\"a\":tru}", "[]",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!is_object(bad[i]));
    CHECK(is_object("{}"));
    CHECK(is_object(" { } "));
    CHECK(is_object(" { \"a\" : 1 , \"b\" : [ ] } "));
}

TEST(numbers_have_no_sign_and_18_digits)
{
    uint64_t n = 0;

    CHECK(text_number((struct text){"999999999999999999", 18}, &n));
    CHECK_EQ(n, UINT64_C(999999999999999999));
    CHECK(!text_number((struct text){"1000000000000000000", 19}, &n));
    CHECK(!text_number((struct text){"-1", 2}, &n));
    CHECK(!text_number((struct text){"1.0", 3}, &n));
    CHECK(!text_number((struct text){"", 0}, &n));
}

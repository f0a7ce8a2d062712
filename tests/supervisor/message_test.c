/* Lines as messages. */
#include "../unit/test.h"

#include "wire/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a message that is written again */

static void
check_again(const char *line, const char *wanted)
{
    char error[MESSAGE_ERROR_BYTES];
    struct message *m;
    struct buf b;

    CHECK_EQ(message_new(line, strlen(line), &m, error), 0);
    buf_init(&b, SIZE_MAX);
    json_put(&b, m->root);
    CHECK_EQ(b.error, 0);
    CHECK(b.len == strlen(wanted) && !memcmp(b.p, wanted, b.len));
    CHECK(json_is_valid((struct text){b.p, b.len}));
    buf_fini(&b);
    message_put(m);
}

TEST(a_value_is_written_as_it_was)
{
    char longer[600];

    check_again(" [ 1 , -2.5 , true , false , null ] ",
                "[1,-2.5,true,false,null]");
    check_again("{\"a\":{\"b\":[]},\"c\":\"\\u00e9\\n\\\"\"}",
                "{\"a\":{\"b\":[]},\"c\":\"\xc3\xa9\\n\\\"\"}");
    memset(longer, 'x', sizeof longer);
    longer[0] = '[';
    longer[1] = longer[sizeof longer - 3] = '"';
    longer[sizeof longer - 2] = ']';
    longer[sizeof longer - 1] = 0;
    check_again(longer, longer);
}

TEST(what_is_nested_too_deeply_is_not_written)
{
    char deep[201], error[MESSAGE_ERROR_BYTES];
    struct message *m;
    struct buf b;

    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    deep[200] = 0;
    CHECK_EQ(message_new(deep, 200, &m, error), 0);
    buf_init(&b, SIZE_MAX);
    json_put(&b, m->root);
    CHECK(b.error < 0);
    buf_fini(&b);
    message_put(m);
}

/* --- ids */

TEST(an_id_comes_back_as_it_was_written)
{
    static const char *const ids[][2] = {
        {"1", "1"},
        {"1.0", "1.0"},
        {"-0", "-0"},
        {"1e999", "1e999"},
        {"123456789012345678901234567890", "123456789012345678901234567890"},
        {"\"a\\u0041\"", "\"aA\""},
        {"null", "null"},
    };
    char line[128], error[MESSAGE_ERROR_BYTES];

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct message *m;
        int n = snprintf(line, sizeof line, "{\"id\":%s}", ids[i][0]);
        CHECK_EQ(message_new(line, (size_t)n, &m, error), 0);
        char *id = message_id(json_get(m->root, "id"));
        CHECK(id && !strcmp(id, ids[i][1]));
        free(id);
        message_put(m);
    }
}

TEST(a_huge_number_is_an_error_unless_it_is_an_id)
{
    static const char *const good[] = {"{\"id\":1e999}",
                                       "[{\"id\":1e999},{\"id\":2e999}]"};
    static const char *const bad[] = {
        "1e999", "[1e999]", "{\"a\":1e999}", "{\"a\":{\"id\":1e999}}",
        "[{\"id\":1e999,\"a\":[99999999999999999999]}]"};
    char error[MESSAGE_ERROR_BYTES];
    struct message *m;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK_EQ(message_new(good[i], strlen(good[i]), &m, error), 0);
        message_put(m);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_EQ(message_new(bad[i], strlen(bad[i]), &m, error), -EINVAL);
}

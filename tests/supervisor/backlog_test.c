/* Lines that wait: their order, their bound, and what overtakes them. */
#include "wire/backlog.h"

#include "../unit/test.h"
#include "base/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 20000 };

static bool
takes(struct backlog *b, const char *text)
{
    const char *line;
    size_t len;

    return backlog_take(b, &line, &len) && len == strlen(text) &&
           !memcmp(line, text, len);
}

static void
put(struct backlog *b, const char *text)
{
    CHECK_EQ(backlog_put(b, text, strlen(text)), 0);
}

TEST(backlog_gives_lines_in_the_order_of_putting)
{
    struct backlog b;
    const char *line;
    char text[64];
    size_t len;

    backlog_init(&b);
    for (int i = 0; i < LINES; i++) {
        (void)snprintf(text, sizeof text, "line %d %*s", i, i % 30, "");
        put(&b, text);
        if (i % 3)
            continue;
        (void)snprintf(text, sizeof text, "line %d %*s", i / 3, i / 3 % 30, "");
        CHECK(takes(&b, text));
    }
    for (int i = (LINES + 2) / 3; i < LINES; i++) {
        (void)snprintf(text, sizeof text, "line %d %*s", i, i % 30, "");
        CHECK(takes(&b, text));
    }
    CHECK(backlog_is_empty(&b));
    CHECK_EQ(b.bytes, 0);
    CHECK(!backlog_take(&b, &line, &len));
    put(&b, "");
    CHECK(takes(&b, ""));
    backlog_fini(&b);
}

TEST(backlog_refuses_what_is_beyond_its_size)
{
    enum { BYTES = 1 << 20 };
    struct backlog b;
    char *line = calloc(1, BACKLOG_BYTES_MAX);
    const char *taken;
    size_t len;

    backlog_init(&b);
    CHECK_EQ(backlog_put(&b, line, BACKLOG_BYTES_MAX), -ENOBUFS);
    CHECK(b.is_full && backlog_is_empty(&b));
    for (int i = 0; i < 63; i++)
        CHECK_EQ(backlog_put(&b, line, BYTES), 0);
    CHECK(!b.is_full);
    CHECK_EQ(backlog_put(&b, line, BYTES), -ENOBUFS);
    CHECK(b.is_full);
    CHECK_EQ(b.n_lines, 63);
    CHECK(backlog_take(&b, &taken, &len));
    CHECK(!b.is_full);
    CHECK_EQ(backlog_put(&b, line, BYTES), 0);
    backlog_fini(&b);
    free(line);
}

TEST(backlog_survives_failing_allocations)
{
    EACH_OOM(oom) {
        struct backlog b;
        backlog_init(&b);
        int r = backlog_put(&b, "x", 1);
        bool failed = test_alloc_failed();
        CHECK_EQ(r, failed ? -ENOMEM : 0);
        CHECK_EQ(b.n_lines, !failed);
        backlog_fini(&b);
        if (!failed)
            break;
    }
}

/* --- cancelling */

static bool
is_run(const void *arg, const struct json *object)
{
    const struct json *name = json_get(object, "method");

    return json_is(name, JSON_STRING) && text_is(json_text(name), arg);
}

static bool
cancels(struct backlog *b, const char *id)
{
    const struct wanted w = {id, is_run, "run"};

    return backlog_cancel(b, &w, "box");
}

TEST(backlog_finds_the_request_that_is_cancelled)
{
    struct backlog b;
    const char *line;
    size_t len;

    backlog_init(&b);
    CHECK(!cancels(&b, "1"));
    put(&b, "not JSON 1");
    put(&b, "{\"id\":1,\"method\":\"status\"}");
    put(&b, "{\"id\":\"1\",\"method\":\"run\"}");
    put(&b, "[3,{\"id\":5,\"method\":\"run\"},{\"id\":1,\"method\":\"run\"}]");
    put(&b, "{\"id\":\"\\u0061\",\"method\":\"run\"}");
    CHECK(!cancels(&b, "2"));
    CHECK(cancels(&b, "1"));
    CHECK(cancels(&b, "\"a\""));
    CHECK(!cancels(&b, "7"));
    put(&b, "{\"id\":7.0,\"method\":\"run\"}");
    CHECK(cancels(&b, "7"));
    CHECK(backlog_was_cancelled(&b, "box", "7.0"));
    CHECK(cancels(&b, NULL));
    CHECK(!backlog_was_cancelled(&b, "other", "1"));
    CHECK(!backlog_was_cancelled(&b, "box", "5"));
    CHECK(!backlog_was_cancelled(&b, "box", NULL));
    CHECK(backlog_was_cancelled(&b, "box", "1"));
    CHECK(!backlog_was_cancelled(&b, "box", "1"));
    CHECK(backlog_was_cancelled(&b, "box", "\"1\"")); /* the oldest */
    while (backlog_take(&b, &line, &len))
        ;
    CHECK(!backlog_was_cancelled(&b, "box", "\"a\""));
    backlog_fini(&b);
}

/* --- envelopes */

static bool
has_envelope(const char *line, const char *method, const char *type,
             const char *id)
{
    struct envelope e;

    return envelope_read(line, strlen(line), &e) && text_is(e.method, method) &&
           text_is(e.type, type) && text_is(e.id, id);
}

TEST(envelope_has_the_members_of_the_line_itself)
{
    struct envelope e;

    CHECK(has_envelope("{\"id\":\"cb_1\",\"result\":{\"method\":\"kill\"}}", "",
                       "", "cb_1"));
    CHECK(has_envelope(" {\"params\":{\"id\":\"x\"}, \"method\" : \"run\"} ",
                       "run", "", ""));
    CHECK(has_envelope("{\"type\":\"status\",\"id\":1}", "", "status", ""));
    CHECK(has_envelope("{\"method\":\"k\\u0069ll\"}", "", "", ""));
    CHECK(has_envelope("{\"method\":[\"kill\"]}", "", "", ""));
    CHECK(!envelope_read("[]", 2, &e));
    CHECK(!envelope_read("", 0, &e));
    CHECK(!envelope_read("{\"method\":\"kill\"", 16, &e));
}

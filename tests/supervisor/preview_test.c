/* Heads of requests to previews, and the tokens of previews. */
#include "../unit/test.h"

#include "supervisor/front/preview_head.h"
#include "supervisor/session/preview_token.h"

#include <string.h>

/* Parses a text. Returns as preview_head_parse. */
static int
parse(const char *text, struct preview_head *ret)
{
    return preview_head_parse(text, strlen(text), ret);
}

static bool
writes(const char *text, const char *right)
{
    struct preview_head h;
    struct buf b;

    buf_init(&b, SIZE_MAX);
    int n = parse(text, &h);
    if (n > 0)
        preview_head_put(&h, &b);
    bool ok = n > 0 && b.len == strlen(right) && !memcmp(b.p, right, b.len);
    buf_fini(&b);
    return ok;
}

TEST(a_head_is_complete_at_its_empty_line)
{
    static const char text[] = "GET /a?b=c HTTP/1.1\r\nHost: x.test:80\r\n\r\n";
    struct preview_head h;

    for (size_t n = 0; n < sizeof text - 1; n++)
        CHECK(preview_head_parse(text, n, &h) == 0);
    CHECK(parse(text, &h) == (int)sizeof text - 1);
    CHECK(text_is(h.method, "GET") && text_is(h.target, "/a?b=c"));
    CHECK(text_is(h.host, "x.test") && !h.token.p && !h.is_upgrade);
    CHECK(h.body_bytes == 0);
    CHECK(parse("POST / HTTP/1.0\r\nhost:x\r\nContent-Length:7\r\n\r\n", &h) >
          0);
    CHECK(h.body_bytes == 7 && text_is(h.host, "x"));
}

TEST(a_head_has_one_form_only)
{
    static const char *const bad[] = {
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: \r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
        "GET / HTTP/1.1\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n X: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: \001\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /\177 HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
        "Content-Length: 1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n",
    };
    struct preview_head h;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(parse(bad[i], &h) == -400);
    CHECK(parse("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
                "chunked\r\n\r\n",
                &h) == -411);
    CHECK(preview_head_parse("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 29, &h) ==
          -400);
}

TEST(a_head_that_is_too_long_is_rejected)
{
    static char text[PREVIEW_HEAD_BYTES + 1];
    struct preview_head h;

    memset(text, 'x', sizeof text);
    CHECK(preview_head_parse(text, sizeof text - 1, &h) == 0);
    CHECK(preview_head_parse(text, sizeof text, &h) == -431);
}

TEST(the_token_is_found_and_not_passed_on)
{
    struct preview_head h;

    CHECK(parse("GET /p?a=1&wasmsand-token=t&b HTTP/1.1\r\nHost: a\r\n\r\n",
                &h) > 0);
    CHECK(text_is(h.token, "t") && h.is_token_in_target);
    CHECK(writes("GET /p?a=1&wasmsand-token=t&b HTTP/1.1\r\nHost: a\r\n\r\n",
                 "GET /p?a=1&b HTTP/1.1\r\nHost: a\r\n"
                 "Connection: close\r\n\r\n"));
    CHECK(writes("GET /?wasmsand-token=t HTTP/1.1\r\nHost: a\r\n\r\n",
                 "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    CHECK(writes("GET / HTTP/1.1\r\nHost: a\r\nCookie: a=b; "
                 "wasmsand-preview=t; c=d\r\n\r\n",
                 "GET / HTTP/1.1\r\nHost: a\r\nCookie: a=b; c=d\r\n"
                 "Connection: close\r\n\r\n"));
    CHECK(writes("GET / HTTP/1.1\r\nHost: a\r\nCookie: wasmsand-preview=t\r\n"
                 "x-wasmsand-preview-token: t\r\nX: y\r\n\r\n",
                 "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n"
                 "Connection: close\r\n\r\n"));
}

TEST(an_upgrade_is_passed_on)
{
    CHECK(writes("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, "
                 "Upgrade\r\nUpgrade: websocket\r\n\r\n",
                 "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
                 "Connection: Upgrade\r\n\r\n"));
    CHECK(writes("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n"
                 "Upgrade: h2c\r\nKeep-Alive: 5\r\n\r\n",
                 "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
}

TEST(a_token_is_valid_for_its_session_port_and_time)
{
    struct preview_key key = {{1, 2, 3}}, other = {{1, 2, 4}};
    struct preview_grant g = {"0123456789abcdef0123456789abcdef", 8000, 1000};
    char text[PREVIEW_TOKEN_BYTES];

    preview_token_write(&key, &g, text);
    struct text token = {text, strlen(text)};
    CHECK(preview_token_is_valid(&key, &g, token, 999));
    CHECK(!preview_token_is_valid(&key, &g, token, 1000));
    CHECK(!preview_token_is_valid(&other, &g, token, 999));
    g.port = 8001;
    CHECK(!preview_token_is_valid(&key, &g, token, 999));
    g.port = 8000;
    g.session = "0123456789abcdef0123456789abcdee";
    CHECK(!preview_token_is_valid(&key, &g, token, 999));
    g.session = "0123456789abcdef0123456789abcdef";
    token.len--;
    CHECK(!preview_token_is_valid(&key, &g, token, 999));
    token.len++;
    text[0] = '9'; /* 9000: a later end */
    CHECK(!preview_token_is_valid(&key, &g, token, 999));
}

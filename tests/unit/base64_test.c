#include "base/base64.h"

#include "test.h"

#include <errno.h>
#include <string.h>

static bool
base64_is(const char *bytes, const char *text)
{
    size_t len = strlen(bytes), n = 0;
    char back[16];
    struct buf b;

    buf_init(&b, SIZE_MAX);
    base64_put(&b, bytes, len);
    bool is = b.len == strlen(text) && (!b.len || !memcmp(b.p, text, b.len)) &&
              base64_decode(text, strlen(text), back, &n) == 0 && n == len &&
              !memcmp(back, bytes, len);
    buf_fini(&b);
    return is;
}

TEST(base64_has_the_vectors_of_rfc_4648)
{
    CHECK(base64_is("", ""));
    CHECK(base64_is("f", "Zg=="));
    CHECK(base64_is("fo", "Zm8="));
    CHECK(base64_is("foo", "Zm9v"));
    CHECK(base64_is("foob", "Zm9vYg=="));
    CHECK(base64_is("fooba", "Zm9vYmE="));
    CHECK(base64_is("foobar", "Zm9vYmFy"));
}

TEST(base64_rejects_text_that_is_not_canonical)
{
    static const char *const bad[] = {
        "Z",    "Zg",   "Zg=",      "Zh==",  "Zm9=",
        "Z===", "====", "Zg==Zg==", "Zm9\n", "Zm 9"};
    char to[16];
    size_t n;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_EQ(base64_decode(bad[i], strlen(bad[i]), to, &n), -EINVAL);
}

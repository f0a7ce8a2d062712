/* The parser is strict: it accepts what clients send, and nothing that two
 * programs could read in two ways. The message is in one or more records, which
 * contain nothing else; an extension occurs once; there is one name. */
#include "net/hello.h"

#include "net/hostname.h"

#include <stdbool.h>
#include <string.h>

enum {
    RECORD_HANDSHAKE = 22,
    RECORD_HEAD = 5,
    RECORD_BYTES_MAX = 16384,
    MESSAGE_CLIENT_HELLO = 1,
    MESSAGE_HEAD = 4,
    VERSION_MAJOR = 3,
    VERSION_AND_RANDOM = 34,
    EXTENSION_SERVER_NAME = 0,
    EXTENSION_ENCRYPTED_NAME = 0xffce, /* drafts of ECH */
    EXTENSION_ENCRYPTED_HELLO = 0xfe0d,
    NAME_KIND_HOST = 0,
};

/* Bytes that are still to be read. */
struct hello_rest {
    const uint8_t *p;
    size_t len;
};

static bool
hello_skip(struct hello_rest *r, size_t n)
{
    if (r->len < n)
        return false;
    r->p += n;
    r->len -= n;
    return true;
}

/* Reads a number of `bytes` bytes. */
static bool
hello_number(struct hello_rest *r, size_t bytes, size_t *ret)
{
    size_t n = 0;

    if (r->len < bytes)
        return false;
    for (size_t i = 0; i < bytes; i++)
        n = n << 8 | r->p[i];
    *ret = n;
    return hello_skip(r, bytes);
}

/* Reads a vector: a length of `bytes` bytes, and that many bytes. */
static bool
hello_vector(struct hello_rest *r, size_t bytes, struct hello_rest *ret)
{
    size_t n;

    if (!hello_number(r, bytes, &n) || r->len < n)
        return false;
    *ret = (struct hello_rest){r->p, n};
    return hello_skip(r, n);
}

/* --- records */

/* Joins the contents of records into `to`, up to the end of the message.
 * HELLO_ASKS: it is complete, with *ret_len bytes. */
static enum hello_verdict
hello_join(struct hello_rest r, uint8_t *to, size_t *ret_len)
{
    size_t n = 0, whole = MESSAGE_HEAD;

    while (n < whole) {
        size_t kind, version, len;
        if (r.len < RECORD_HEAD)
            return r.len && r.p[0] != RECORD_HANDSHAKE ? HELLO_BAD : HELLO_MORE;
        (void)hello_number(&r, 1, &kind);
        (void)hello_number(&r, 2, &version);
        (void)hello_number(&r, 2, &len);
        if (kind != RECORD_HANDSHAKE || version >> 8 != VERSION_MAJOR || !len ||
            len > RECORD_BYTES_MAX)
            return HELLO_BAD;
        if (r.len < len)
            return HELLO_MORE;
        memcpy(to + n, r.p, len);
        n += len;
        (void)hello_skip(&r, len);
        if (n < MESSAGE_HEAD)
            continue;
        whole =
            MESSAGE_HEAD + ((size_t)to[1] << 16 | (size_t)to[2] << 8 | to[3]);
        if (to[0] != MESSAGE_CLIENT_HELLO || whole > HELLO_BYTES_MAX)
            return HELLO_BAD;
    }
    *ret_len = n;
    return n == whole ? HELLO_ASKS : HELLO_BAD;
}

/* --- the message */

static bool
hello_has_name(struct hello_rest extension, const char *name)
{
    char canonical[HOSTNAME_MAX + 1];
    struct hello_rest list, host;
    size_t kind;

    return hello_vector(&extension, 2, &list) && !extension.len &&
           hello_number(&list, 1, &kind) && kind == NAME_KIND_HOST &&
           hello_vector(&list, 2, &host) && !list.len &&
           hostname_parse((const char *)host.p, host.len, canonical) &&
           !strcmp(canonical, name);
}

static bool
hello_hides(size_t kind)
{
    return kind == EXTENSION_ENCRYPTED_HELLO ||
           kind == EXTENSION_ENCRYPTED_NAME;
}

static bool
hello_extensions_ask(struct hello_rest r, const char *name)
{
    struct hello_rest content;
    bool has_name = false;
    size_t kind;

    while (r.len) {
        if (!hello_number(&r, 2, &kind) || !hello_vector(&r, 2, &content) ||
            hello_hides(kind))
            return false;
        if (kind != EXTENSION_SERVER_NAME)
            continue;
        if (has_name || !hello_has_name(content, name))
            return false;
        has_name = true;
    }
    return has_name;
}

/* `r` begins behind the head of the message. */
static bool
hello_asks(struct hello_rest r, const char *name)
{
    struct hello_rest session, ciphers, compressions, extensions;

    return hello_skip(&r, VERSION_AND_RANDOM) &&
           hello_vector(&r, 1, &session) && hello_vector(&r, 2, &ciphers) &&
           hello_vector(&r, 1, &compressions) &&
           hello_vector(&r, 2, &extensions) && !r.len &&
           hello_extensions_ask(extensions, name);
}

enum hello_verdict
hello_check(const uint8_t *p, size_t len, const char *name, uint8_t *space)
{
    enum hello_verdict v;
    size_t n;

    if (len > HELLO_BYTES_MAX)
        return HELLO_BAD;
    v = hello_join((struct hello_rest){p, len}, space, &n);
    if (v == HELLO_MORE && len == HELLO_BYTES_MAX)
        return HELLO_BAD;
    if (v != HELLO_ASKS)
        return v;
    struct hello_rest message = {space + MESSAGE_HEAD, n - MESSAGE_HEAD};
    return hello_asks(message, name) ? HELLO_ASKS : HELLO_BAD;
}

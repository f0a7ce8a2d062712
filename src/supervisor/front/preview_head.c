/* Parsing and writing the heads of requests to previews. */
#include "supervisor/front/preview_head.h"

#include "base/parse.h"

#include <string.h>
#include <strings.h>

static const char token_header[] = "X-Wasmsand-Preview-Token";
static const char token_cookie[] = "wasmsand-preview";
static const char token_query[] = "wasmsand-token";

/* One line of the header. */
struct preview_field {
    struct text name, value;
};

/* --- texts */

static bool
preview_text_is(struct text t, const char *word)
{
    return t.len == strlen(word) && !strncasecmp(t.p, word, t.len);
}

/* Cuts the text at the first separator. Returns the part before it; the rest
 * follows it, and is empty (p NULL) without one. */
static struct text
preview_text_cut(struct text *rest, char separator)
{
    const char *at = memchr(rest->p, separator, rest->len);
    struct text part = {rest->p, at ? (size_t)(at - rest->p) : rest->len};

    *rest = at ? (struct text){at + 1, rest->len - part.len - 1}
               : (struct text){NULL, 0};
    return part;
}

static struct text
preview_text_trim(struct text t)
{
    while (t.len && strchr(" \t", *t.p)) {
        t.p++;
        t.len--;
    }
    while (t.len && strchr(" \t", t.p[t.len - 1]))
        t.len--;
    return t;
}

/* True for the characters of methods and names of fields (RFC 9110: tchar). */
static bool
preview_is_word(struct text t)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < t.len; i++) {
        char c = t.p[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && !(c >= '0' && c <= '9') &&
            !memchr(marks, c, sizeof marks - 1))
            return false;
    }
    return t.len > 0;
}

/* True for visible characters, and for `others`. */
static bool
preview_is_visible(struct text t, const char *others)
{
    for (size_t i = 0; i < t.len; i++) {
        unsigned char c = (unsigned char)t.p[i];
        if ((c < 0x21 || c == 0x7f) && (!c || !strchr(others, c)))
            return false;
    }
    return true;
}

/* --- pairs in cookies and queries */

/* Returns the value of `name` in a list of pairs NAME=VALUE, or a text with p
 * NULL. */
static struct text
preview_pair_find(struct text list, char separator, const char *name)
{
    while (list.p) {
        struct text value =
            preview_text_trim(preview_text_cut(&list, separator));
        if (!value.len)
            continue;
        struct text key = preview_text_cut(&value, '=');
        if (value.p && text_is(key, name))
            return value;
    }
    return (struct text){NULL, 0};
}

/* Appends the list without `name`, and `before` in front of the first pair.
 * Writes nothing if no pair is left. */
static void
preview_pair_put_others(struct text list, char separator, const char *name,
                        const char *before, struct buf *b)
{
    const char between[] = {separator, separator == ';' ? ' ' : 0, 0};
    bool is_first = true;

    while (list.p) {
        struct text pair =
            preview_text_trim(preview_text_cut(&list, separator));
        struct text value = pair;
        if (!pair.len || text_is(preview_text_cut(&value, '='), name))
            continue;
        buf_puts(b, is_first ? before : between);
        buf_add(b, pair.p, pair.len);
        is_first = false;
    }
}

/* --- lines */

/* Takes the next line, which CR LF ends. A control character is an error, and
 * so is an empty name or a space around it: old servers disagree on their
 * meaning. */
static bool
preview_field_next(struct text *lines, struct preview_field *ret)
{
    struct text line = preview_text_cut(lines, '\n');

    if (!line.len || line.p[line.len - 1] != '\r')
        return false;
    line.len--;
    ret->name = preview_text_cut(&line, ':');
    if (!line.p || !preview_is_word(ret->name) ||
        !preview_is_visible(line, " \t"))
        return false;
    ret->value = preview_text_trim(line);
    return true;
}

/* True if a list with commas contains the word. */
static bool
preview_field_has(struct text list, const char *word)
{
    while (list.p)
        if (preview_text_is(preview_text_trim(preview_text_cut(&list, ',')),
                            word))
            return true;
    return false;
}

/* Counts of fields that may occur once, and the fields of an upgrade. */
struct preview_count {
    int hosts, lengths;
    bool has_upgrade, asks_upgrade;
};

static int
preview_head_take_host(struct preview_head *h, struct text value)
{
    struct text port = value;

    h->host = preview_text_cut(&port, ':');
    return h->host.len && !memchr(value.p, ',', value.len) ? 0 : -400;
}

/* Reads the fields that decide about the request. */
static int
preview_head_take(struct preview_head *h, const struct preview_field *f,
                  struct preview_count *n)
{
    if (preview_text_is(f->name, "Host"))
        return n->hosts++ ? -400 : preview_head_take_host(h, f->value);
    if (preview_text_is(f->name, "Transfer-Encoding"))
        return -411;
    if (preview_text_is(f->name, "Content-Length"))
        return n->lengths++ || !parse_u64(f->value.p, f->value.len, INT64_MAX,
                                          &h->body_bytes)
                   ? -400
                   : 0;
    if (preview_text_is(f->name, "Upgrade"))
        n->has_upgrade = true;
    else if (preview_text_is(f->name, "Connection"))
        n->asks_upgrade |= preview_field_has(f->value, "upgrade");
    else if (preview_text_is(f->name, token_header))
        h->token = f->value;
    else if (preview_text_is(f->name, "Cookie") && !h->token.p)
        h->token = preview_pair_find(f->value, ';', token_cookie);
    return 0;
}

/* The token of the target is the newest: it is in a link that a user has just
 * opened. */
static void
preview_head_find_token(struct preview_head *h)
{
    struct text query = h->target;

    (void)preview_text_cut(&query, '?');
    if (!query.p)
        return;
    query = preview_pair_find(query, '&', token_query);
    h->is_token_in_target = query.p;
    if (query.p)
        h->token = query;
}

/* METHOD /TARGET HTTP/1.1, with single spaces. */
static bool
preview_head_take_first(struct preview_head *h, struct text line)
{
    h->method = preview_text_cut(&line, ' ');
    if (!line.p)
        return false;
    h->target = preview_text_cut(&line, ' ');
    if (!line.p)
        return false;
    h->version = preview_text_cut(&line, '\r');
    return line.p && !line.len && preview_is_word(h->method) && h->target.len &&
           *h->target.p == '/' && preview_is_visible(h->target, "") &&
           (text_is(h->version, "HTTP/1.1") || text_is(h->version, "HTTP/1.0"));
}

static int
preview_head_take_lines(struct preview_head *h)
{
    struct preview_count n = {0};
    struct text rest = h->lines;

    while (rest.len) {
        struct preview_field f;
        int r =
            preview_field_next(&rest, &f) ? preview_head_take(h, &f, &n) : -400;
        if (r < 0)
            return r;
    }
    h->is_upgrade = n.has_upgrade && n.asks_upgrade;
    return n.hosts == 1 ? 0 : -400;
}

int
preview_head_parse(const char *p, size_t len, struct preview_head *ret)
{
    const char *end = memmem(p, len, "\r\n\r\n", 4);
    struct text rest = {p, end ? (size_t)(end + 2 - p) : 0};

    if ((end ? rest.len + 2 : len) > PREVIEW_HEAD_BYTES)
        return -431;
    if (!end)
        return 0;
    *ret = (struct preview_head){0};
    if (!preview_head_take_first(ret, preview_text_cut(&rest, '\n')))
        return -400;
    ret->lines = rest;
    int r = preview_head_take_lines(ret);
    if (r < 0)
        return r;
    preview_head_find_token(ret);
    return (int)(end + 4 - p);
}

/* --- writing */

void
preview_head_put_target(const struct preview_head *h, struct buf *b)
{
    struct text query = h->target;
    struct text path = preview_text_cut(&query, '?');

    buf_add(b, path.p, path.len);
    preview_pair_put_others(query, '&', token_query, "?", b);
}

/* Fields of one connection, and the token, are not passed on. */
static bool
preview_field_is_ours(const struct preview_field *f)
{
    static const char *const names[] = {"Connection", "Keep-Alive",
                                        "Proxy-Connection", "Upgrade",
                                        token_header};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (preview_text_is(f->name, names[i]))
            return true;
    return false;
}

static void
preview_field_put(const struct preview_head *h, const struct preview_field *f,
                  struct buf *b)
{
    if (preview_text_is(f->name, "Upgrade") && h->is_upgrade) {
        buf_printf(b, "Upgrade: %.*s\r\n", (int)f->value.len, f->value.p);
    } else if (preview_text_is(f->name, "Cookie")) {
        size_t before = b->len;
        preview_pair_put_others(f->value, ';', token_cookie, "Cookie: ", b);
        buf_puts(b, b->len > before ? "\r\n" : "");
    } else if (!preview_field_is_ours(f)) {
        buf_printf(b, "%.*s: %.*s\r\n", (int)f->name.len, f->name.p,
                   (int)f->value.len, f->value.p);
    }
}

void
preview_head_put(const struct preview_head *h, struct buf *b)
{
    struct text rest = h->lines;
    struct preview_field f;

    buf_printf(b, "%.*s ", (int)h->method.len, h->method.p);
    preview_head_put_target(h, b);
    buf_printf(b, " %.*s\r\n", (int)h->version.len, h->version.p);
    while (rest.len && preview_field_next(&rest, &f))
        preview_field_put(h, &f, b);
    buf_printf(b, "Connection: %s\r\n\r\n",
               h->is_upgrade ? "Upgrade" : "close");
}

/* Lines as JSON, with long strings cut out before the parser sees them. */
#include "wire/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUT_BYTES_MIN = 256, CUTS_MAX = 65536, DIGITS_MAX = 18 };
/* What the answers of one batch may come to. */
enum { BATCH_BYTES_MAX = 64 << 20, PUT_DEPTH_MAX = 64 };

/* What stands for a cut: a string that begins with NUL, and a number. */
#define MARK "\"\\u0000"

struct cut {
    const char *p;
    size_t len;
    bool is_number;
};

/* --- cutting
 *
 * Walks over the tokens of a line that may be anything; what is not
 * understood is left to the parser. */

struct cutter {
    struct message *m;
    const char *at, *end, *copied; /* in the line */
    struct buf out;                /* the line without what was cut */
    /* of the containers that are open: '{', '[' */
    char containers[3];
    size_t depth;
    bool is_id; /* the value of "id" in a request follows */
};

static bool
add_cut(struct cutter *c, const char *p, size_t len, bool is_number)
{
    struct message *m = c->m;

    if (m->n_cuts == CUTS_MAX)
        return false;
    if (!(m->n_cuts & (m->n_cuts - 1))) {
        size_t n = m->n_cuts ? 2 * m->n_cuts : 1;
        struct cut *v = realloc(m->cuts, n * sizeof *v);
        if (!v)
            return false;
        m->cuts = v;
    }
    m->cuts[m->n_cuts++] = (struct cut){p, len, is_number};
    return true;
}

/* Puts a mark in the place of `len` bytes at p, which hold `what`. */
static void
cut(struct cutter *c, const char *p, size_t len, struct text what, bool is_num)
{
    size_t n = c->m->n_cuts;

    if (!add_cut(c, what.p, what.len, is_num))
        return;
    buf_add(&c->out, c->copied, (size_t)(p - c->copied));
    buf_printf(&c->out, MARK "%zu\"", n);
    c->copied = p + len;
}

static void
skip_space(struct cutter *c)
{
    while (c->at < c->end && strchr(" \t\r\n", *c->at) && *c->at)
        c->at++;
}

/* Is this the place of a request's members? */
static bool
is_in_request(const struct cutter *c)
{
    if (c->depth == 1)
        return c->containers[0] == '{';
    return c->depth == 2 && c->containers[0] == '[' && c->containers[1] == '{';
}

/* Passes a string and says if it is plain: its text is its value. */
static bool
pass_string(struct cutter *c)
{
    bool is_plain = true;

    for (c->at++; c->at < c->end; c->at++) {
        c->at += text_plain_run(c->at, (size_t)(c->end - c->at));
        if (c->at == c->end)
            return false;
        if (*c->at == '"') {
            c->at++;
            return is_plain;
        }
        is_plain = false;
        if (*c->at == '\\')
            c->at++;
    }
    return false;
}

static void
string_token(struct cutter *c)
{
    const char *begin = c->at;
    bool is_plain = pass_string(c);
    size_t len = (size_t)(c->at - begin);

    skip_space(c);
    if (c->at < c->end && *c->at == ':') {
        c->at++;
        c->is_id = is_in_request(c) && len == 4 && !memcmp(begin, "\"id\"", 4);
        return;
    }
    c->is_id = false;
    if (is_plain && len >= CUT_BYTES_MIN)
        cut(c, begin, len, (struct text){begin + 1, len - 2}, false);
}

/* Passes digits, at least one. */
static bool
pass_digits(const char **p, const char *end)
{
    const char *begin = *p;

    while (*p < end && **p >= '0' && **p <= '9')
        (*p)++;
    return *p > begin;
}

/* Passes a number of JSON's grammar. *ret_plain: the parser's integer has the
 * same text. */
static bool
pass_number(const char **p, const char *end, bool *ret_plain)
{
    const char *begin = *p;
    bool is_negative = **p == '-';

    *p += is_negative;
    const char *digits = *p;
    if (!pass_digits(p, end) || (*digits == '0' && *p - digits > 1))
        return false;
    *ret_plain = *p - digits <= DIGITS_MAX && !(is_negative && *digits == '0');
    if (*p < end && **p == '.' && (*ret_plain = false, (*p)++, true) &&
        !pass_digits(p, end))
        return false;
    if (*p < end && (**p == 'e' || **p == 'E')) {
        *ret_plain = false;
        (*p)++;
        if (*p < end && (**p == '+' || **p == '-'))
            (*p)++;
        return pass_digits(p, end);
    }
    return *p > begin;
}

static void
number_token(struct cutter *c)
{
    const char *begin = c->at;
    bool is_plain = true;

    if (!pass_number(&c->at, c->end, &is_plain)) {
        c->at = c->at == begin ? begin + 1 : c->at;
        return;
    }
    size_t len = (size_t)(c->at - begin);
    if (c->is_id && !is_plain)
        cut(c, begin, len, (struct text){begin, len}, true);
    c->is_id = false;
}

static void
other_token(struct cutter *c)
{
    char t = *c->at++;

    if (t == '{' || t == '[') {
        if (c->depth < sizeof c->containers)
            c->containers[c->depth] = t;
        c->depth++;
        c->is_id = false;
    } else if ((t == '}' || t == ']') && c->depth) {
        c->depth--;
    }
}

static void
cut_line(struct cutter *c)
{
    while (c->at < c->end) {
        if (*c->at == '"')
            string_token(c);
        else if (*c->at == '-' || (*c->at >= '0' && *c->at <= '9'))
            number_token(c);
        else
            other_token(c);
    }
    if (c->m->n_cuts)
        buf_add(&c->out, c->copied, (size_t)(c->end - c->copied));
}

/* --- parsing */

static int
parse(struct message *m, const char *p, size_t len,
      char error[MESSAGE_ERROR_BYTES])
{
    json_error_t e;

    m->root = json_loadb(
        p, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &e);
    if (m->root)
        return 0;
    (void)snprintf(error, MESSAGE_ERROR_BYTES, "%s", e.text);
    return -EINVAL;
}

static int
cut_and_parse(struct message *m, char error[MESSAGE_ERROR_BYTES])
{
    struct cutter c = {
        .m = m, .at = m->line, .copied = m->line, .end = m->line + m->len};

    if (memchr(m->line, '\\', m->len) &&
        memmem(m->line, m->len, MARK, strlen(MARK)))
        return parse(m, m->line, m->len, error);
    buf_init(&c.out, SIZE_MAX);
    cut_line(&c);
    int r = c.out.error;
    if (r == 0)
        r = m->n_cuts ? parse(m, c.out.p, c.out.len, error)
                      : parse(m, m->line, m->len, error);
    buf_fini(&c.out);
    for (size_t i = 0; i < m->n_cuts; i++)
        if (!m->cuts[i].is_number)
            m->line[m->cuts[i].p + m->cuts[i].len - m->line] = 0;
    return r;
}

int
message_new(const char *line, size_t len, struct message **ret,
            char error[MESSAGE_ERROR_BYTES])
{
    CLEANUP(message_putp) struct message *m = calloc(1, sizeof *m);

    if (!m)
        return -ENOMEM;
    m->refs = 1;
    buf_init(&m->answers, SIZE_MAX);
    (void)pthread_mutex_init(&m->lock, NULL);
    m->line = malloc(len + 1);
    if (!m->line)
        return -ENOMEM;
    memcpy(m->line, line, len);
    m->line[len] = 0;
    m->len = len;
    int r = cut_and_parse(m, error);
    if (r == 0)
        *ret = STEAL(m);
    return r;
}

struct message *
message_get(struct message *m)
{
    m->refs++;
    return m;
}

void
message_put(struct message *m)
{
    if (!m || --m->refs)
        return;
    json_decref(m->root);
    buf_fini(&m->answers);
    (void)pthread_mutex_destroy(&m->lock);
    free(m->cuts);
    free(m->line);
    free(m);
}

/* --- looking at it */

static const struct cut *
find_cut(const struct message *m, const json_t *string)
{
    const char *s = json_string_value(string);

    if (!m->n_cuts || json_string_length(string) < 2 || *s)
        return NULL;
    size_t i = strtoul(s + 1, NULL, 10);
    return i < m->n_cuts ? &m->cuts[i] : NULL;
}

struct text
message_text(const struct message *m, const json_t *string)
{
    const struct cut *c = find_cut(m, string);

    if (c)
        return (struct text){c->p, c->len};
    return (struct text){json_string_value(string), json_string_length(string)};
}

char *
message_id(const struct message *m, const json_t *id)
{
    const struct cut *c = json_is_string(id) ? find_cut(m, id) : NULL;
    struct buf b;

    buf_init(&b, SIZE_MAX);
    if (c && c->is_number)
        buf_add(&b, c->p, c->len);
    else if (json_is_string(id))
        put_string(&b, message_text(m, id).p, message_text(m, id).len);
    else if (json_is_integer(id))
        buf_printf(&b, "%" PRId64, (int64_t)json_integer_value(id));
    else if (json_is_real(id))
        buf_printf(&b, "%.17g", json_real_value(id));
    else if (json_is_null(id))
        buf_puts(&b, "null");
    else
        return NULL;
    buf_add(&b, "", 1);
    if (b.error)
        buf_fini(&b);
    return b.p;
}

static bool
is_plain_integer(const char *s)
{
    return s[strspn(s, "-0123456789")] == 0;
}

/* Integers beyond 2^53 are told apart by their text. */
bool
id_equals(const char *a, const char *b)
{
    if (!strcmp(a, b))
        return true;
    if (*a == '"' || *b == '"' || *a == 'n' || *b == 'n' ||
        (is_plain_integer(a) && is_plain_integer(b)))
        return false;
    return strtod(a, NULL) == strtod(b, NULL);
}

/* --- writing it again */

static void put_value(struct buf *b, const struct message *m, const json_t *v,
                      int depth);

static void
put_array(struct buf *b, const struct message *m, const json_t *v, int depth)
{
    size_t i;
    json_t *element;

    buf_puts(b, "[");
    json_array_foreach(v, i, element)
    {
        if (i)
            buf_puts(b, ",");
        put_value(b, m, element, depth);
    }
    buf_puts(b, "]");
}

static void
put_object(struct buf *b, const struct message *m, const json_t *v, int depth)
{
    const char *name, *comma = "";
    json_t *member;

    buf_puts(b, "{");
    json_object_foreach((json_t *)v, name, member)
    {
        buf_puts(b, comma);
        comma = ",";
        put_text(b, name);
        buf_puts(b, ":");
        put_value(b, m, member, depth);
    }
    buf_puts(b, "}");
}

static void
put_value(struct buf *b, const struct message *m, const json_t *v, int depth)
{
    if (depth > PUT_DEPTH_MAX)
        b->error = -ELOOP;
    if (b->error)
        return;
    if (json_is_array(v))
        put_array(b, m, v, depth + 1);
    else if (json_is_object(v))
        put_object(b, m, v, depth + 1);
    else if (json_is_string(v))
        put_string(b, message_text(m, v).p, message_text(m, v).len);
    else if (json_is_integer(v))
        buf_printf(b, "%" PRId64, (int64_t)json_integer_value(v));
    else if (json_is_real(v))
        buf_printf(b, "%.17g", json_real_value(v));
    else
        buf_puts(b, json_is_null(v)   ? "null"
                    : json_is_true(v) ? "true"
                                      : "false");
}

void
put_json(struct buf *b, const struct message *m, const json_t *value)
{
    put_value(b, m, value, 0);
}

/* --- a batch's answers */

bool
message_add_answer(struct message *m, const char *p, size_t len)
{
    struct buf *b = &m->answers;

    pthread_mutex_lock(&m->lock);
    if (len) {
        buf_add(b, b->len ? "," : "[", 1);
        buf_add(b, p, len);
    }
    bool is_last = --m->n_left == 0;
    pthread_mutex_unlock(&m->lock);
    if (!is_last || !b->len)
        return false;
    buf_puts(b, "]\n");
    return !b->error;
}

bool
message_is_full(struct message *m, size_t more)
{
    pthread_mutex_lock(&m->lock);
    bool is = m->answers.len + more > BATCH_BYTES_MAX;
    pthread_mutex_unlock(&m->lock);
    return is;
}

/* --- lines */

static void
take_batch(struct message *m, const struct taker *t, void *to)
{
    size_t n = json_array_size(m->root);

    if (n < 1 || n > BATCH_MAX) {
        t->refuse(to, INVALID_REQUEST,
                  n ? "Invalid request: more than 1000 in a batch"
                    : "Invalid request: an empty batch");
        return;
    }
    m->is_batch = true;
    m->n_left = n;
    for (size_t i = 0; i < n; i++)
        t->object(to, m, json_array_get(m->root, i));
}

void
message_take(const char *line, size_t len, const struct taker *t, void *to)
{
    char reason[MESSAGE_ERROR_BYTES] = "";
    char text[MESSAGE_ERROR_BYTES + 32];
    CLEANUP(message_putp) struct message *m = NULL;

    int r = message_new(line, len, &m, reason);
    if (r == -EINVAL) {
        (void)snprintf(text, sizeof text, "Parse error: %s", reason);
        t->refuse(to, PARSE_ERROR, text);
    } else if (r != 0) {
        t->refuse(to, INTERNAL_ERROR, "Internal error: out of memory");
    } else if (json_is_array(m->root)) {
        take_batch(m, t, to);
    } else {
        t->object(to, m, m->root);
    }
}

/* --- envelopes */

const char *
request_fault(const json_t *object)
{
    const char *version = json_string_value(json_object_get(object, "jsonrpc"));
    const json_t *id = json_object_get(object, "id");

    if (!version || strcmp(version, "2.0") != 0)
        return "Invalid request: jsonrpc must be \"2.0\"";
    if (json_is_object(id) || json_is_array(id) || json_is_boolean(id))
        return "Invalid request: id must be a string, a number or null";
    if (!json_is_string(json_object_get(object, "method")))
        return "Invalid request: method must be a string";
    return NULL;
}

void
put_error(struct buf *b, const char *id, int code, const char *text)
{
    buf_puts(b, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_puts(b, id ? id : "null");
    buf_printf(b, ",\"error\":{\"code\":%d,\"message\":", code);
    put_text(b, text);
    buf_puts(b, "}}\n");
}

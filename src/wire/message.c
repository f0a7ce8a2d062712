/* Lines as JSON, and the answers of a batch.
 *
 * A message is one line, with a tree of its values (base/json.h). Strings are
 * decoded in place, in a copy of the line, so parameters cost no further
 * memory. All calls of a line hold references to its message, and the last one
 * to end frees it. */
#include "wire/message.h"

#include "base/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The maximum size of a batch's answers. */
enum { BATCH_BYTES_MAX = 64 << 20 };

/* --- reading */

/* Returns the first number of a request that neither an integer nor a double
 * can hold, or NULL. Its id may be any number: it is only sent back. */
static const struct json *
message_find_huge(const struct json *request)
{
    const struct json *id = json_get(request, "id");

    for (const struct json *v = request; v < request + request->size; v++)
        if (v->type == JSON_HUGE && v != id)
            return v;
    return NULL;
}

/* The reader accepts numbers of any size, because an id may be any number.
 * Everywhere else, a number that cannot be represented is an error rather than
 * another number. */
static int
message_check_numbers(const struct json_doc *d, struct json_fault *ret)
{
    const struct json *huge = NULL;

    if (!json_is(d->v, JSON_ARRAY))
        huge = message_find_huge(d->v);
    else
        JSON_EACH(request, d->v)
            if (!huge)
                huge = message_find_huge(request);
    if (!huge)
        return 0;
    *ret = (struct json_fault){"a number is out of range",
                               (size_t)(huge->text.p - d->copy)};
    return -EINVAL;
}

/* The lock and the answers are only needed for a batch, but cost nothing until
 * they are used. */
int
message_new(const char *line, size_t len, struct message **ret,
            char error[MESSAGE_ERROR_BYTES])
{
    CLEANUP(message_putp) struct message *m = calloc(1, sizeof *m);
    struct json_fault fault;

    if (!m)
        return -ENOMEM;
    m->refs = 1;
    buf_init(&m->answers, SIZE_MAX);
    (void)pthread_mutex_init(&m->lock, NULL);
    m->len = len;
    int r = json_read_copy(&m->doc, line, len, &fault);
    m->root = m->doc.v;
    if (r == 0 && m->doc.has_huge)
        r = message_check_numbers(&m->doc, &fault);
    if (r == 0)
        *ret = STEAL(m);
    else if (r == -EINVAL)
        (void)snprintf(error, MESSAGE_ERROR_BYTES, "%s (byte %zu)", fault.text,
                       fault.offset);
    return r;
}

void
message_put(struct message *m)
{
    if (!m || --m->refs)
        return;
    json_fini(&m->doc);
    buf_fini(&m->answers);
    (void)pthread_mutex_destroy(&m->lock);
    free(m);
}

/* --- ids */

char *
message_id(const struct json *id)
{
    struct buf b;

    if (!id || json_has_parts(id) || json_is_bool(id))
        return NULL;
    buf_init(&b, SIZE_MAX);
    json_put(&b, id);
    buf_add(&b, "", 1);
    if (b.error)
        buf_fini(&b);
    return b.p;
}

static bool
id_is_integer(const char *s)
{
    return s[strspn(s, "-0123456789")] == 0;
}

/* Integers beyond 2^53 are compared as text. */
bool
id_equals(const char *a, const char *b)
{
    if (!strcmp(a, b))
        return true;
    if (*a == '"' || *b == '"' || *a == 'n' || *b == 'n' ||
        (id_is_integer(a) && id_is_integer(b)))
        return false;
    return parse_double(a, strlen(a)) == parse_double(b, strlen(b));
}

/* --- a batch's answers */

/* Calls of a batch end on several threads, hence the lock. The thread that
 * adds the last answer sees the whole list, and is the only one that still
 * uses it. */
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

/* The sum of a batch's answers is bounded, because they all stay in memory
 * until the last one is there. */
bool
message_is_full(struct message *m, size_t more)
{
    pthread_mutex_lock(&m->lock);
    bool is = m->answers.len + more > BATCH_BYTES_MAX;
    pthread_mutex_unlock(&m->lock);
    return is;
}

/* --- envelopes */

/* The order of these checks decides which error a request with several faults
 * gets. */
const char *
request_fault(const struct json *object)
{
    const struct json *version = json_get(object, "jsonrpc");
    const struct json *id = json_get(object, "id");

    if (!json_is(version, JSON_STRING) || !text_is(json_text(version), "2.0"))
        return "Invalid request: jsonrpc must be \"2.0\"";
    if (json_has_parts(id) || json_is_bool(id))
        return "Invalid request: id must be a string, a number or null";
    if (!json_is(json_get(object, "method"), JSON_STRING))
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

/* Lines in chunks of memory, each line behind its length.
 *
 * Problem: a client may send thousands of small lines, or a few large ones,
 * while earlier calls are in progress. Parsing them would cost many times
 * their size, and an allocation for each would cost more than the short ones
 * have.
 *
 * Idea: lines are copied behind each other into chunks of 256 KiB, and a
 * longer line gets a chunk of its own. Lines leave in the order in which they
 * came, so a chunk is freed when its last line has left. The sum of all lines
 * is limited.
 *
 * A request can be cancelled while its line waits. A mark with its scope and
 * id is then kept beside the lines, which are not changed. The front end asks
 * for that mark when it serves the request. */
#include "wire/backlog.h"

#include "base/json.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 256 << 10, HEAD_BYTES = sizeof(uint32_t) };

struct backlog_chunk {
    struct list link;
    size_t begin, end, cap; /* bytes that wait; of data */
    char data[];
};

/* A request that was cancelled. */
struct cancelled {
    struct list link;
    char text[]; /* its scope, and its id behind that */
};

void
backlog_init(struct backlog *b)
{
    *b = (struct backlog){0};
    list_init(&b->chunks);
    list_init(&b->cancelled);
}

static struct backlog_chunk *
backlog_first_chunk(const struct backlog *b)
{
    return CONTAINER_OF(b->chunks.next, struct backlog_chunk, link);
}

static void
backlog_drop_chunk(struct backlog_chunk *c)
{
    list_remove(&c->link);
    free(c);
}

static void
backlog_drop_one(struct cancelled *n)
{
    list_remove(&n->link);
    free(n);
}

static void
backlog_drop_cancelled(struct backlog *b)
{
    while (!list_is_empty(&b->cancelled))
        backlog_drop_one(
            CONTAINER_OF(b->cancelled.next, struct cancelled, link));
}

void
backlog_fini(struct backlog *b)
{
    while (!list_is_empty(&b->chunks))
        backlog_drop_chunk(backlog_first_chunk(b));
    backlog_drop_cancelled(b);
    backlog_init(b);
}

/* Returns the last chunk if it has space for this many bytes, or a new one. */
static struct backlog_chunk *
backlog_chunk_for(struct backlog *b, size_t bytes)
{
    struct backlog_chunk *last =
        CONTAINER_OF(b->chunks.prev, struct backlog_chunk, link);

    if (!list_is_empty(&b->chunks) && last->cap - last->end >= bytes)
        return last;
    size_t cap = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    struct backlog_chunk *c = malloc(sizeof *c + cap);
    if (!c)
        return NULL;
    c->begin = c->end = 0;
    c->cap = cap;
    list_push_back(&b->chunks, &c->link);
    return c;
}

int
backlog_put(struct backlog *b, const char *line, size_t len)
{
    uint32_t head = (uint32_t)len;

    b->is_full = len + HEAD_BYTES > BACKLOG_BYTES_MAX - b->bytes;
    if (b->is_full)
        return -ENOBUFS;
    struct backlog_chunk *c = backlog_chunk_for(b, len + HEAD_BYTES);
    if (!c)
        return -ENOMEM;
    memcpy(c->data + c->end, &head, HEAD_BYTES);
    memcpy(c->data + c->end + HEAD_BYTES, line, len);
    c->end += len + HEAD_BYTES;
    b->bytes += len + HEAD_BYTES;
    b->n_lines++;
    return 0;
}

/* The line at `at`, which is moved behind it. */
static struct text
backlog_next_line(const struct backlog_chunk *c, size_t *at)
{
    uint32_t len;

    memcpy(&len, c->data + *at, HEAD_BYTES);
    struct text t = {c->data + *at + HEAD_BYTES, len};
    *at += HEAD_BYTES + len;
    return t;
}

/* The chunk of the last line is freed by the next call, because the caller
 * still uses the line. Marks are dropped when there are no more lines: a mark
 * that is left belongs to a request that was rejected. */
bool
backlog_take(struct backlog *b, const char **ret_line, size_t *ret_len)
{
    if (!list_is_empty(&b->chunks) &&
        backlog_first_chunk(b)->begin == backlog_first_chunk(b)->end)
        backlog_drop_chunk(backlog_first_chunk(b));
    if (list_is_empty(&b->chunks)) {
        backlog_drop_cancelled(b);
        return false;
    }
    struct backlog_chunk *c = backlog_first_chunk(b);
    struct text t = backlog_next_line(c, &c->begin);
    b->bytes -= t.len + HEAD_BYTES;
    b->n_lines--;
    b->is_full = false;
    *ret_line = t.p;
    *ret_len = t.len;
    return true;
}

/* --- cancelling */

/* Two requests may have the same id. The oldest one that is wanted is
 * cancelled, as among requests in progress. */
static OWN char *
backlog_find_in_object(const struct wanted *w, const struct json *object)
{
    const struct json *json_id = json_get(object, "id");
    char *id = json_id ? message_id(json_id) : NULL;

    if (id && (!w->id || id_equals(w->id, id)) && w->is_wanted(w->arg, object))
        return id;
    free(id);
    return NULL;
}

/* Can the line have this id? Only such lines are parsed. */
static bool
backlog_may_have(struct text line, const char *id)
{
    char written[64];
    struct envelope e;

    if (!envelope_read(line.p, line.len, &e))
        return true; /* a batch */
    if (e.raw_id.len >= sizeof written ||
        memchr(e.raw_id.p, '\\', e.raw_id.len))
        return true;
    memcpy(written, e.raw_id.p, e.raw_id.len);
    written[e.raw_id.len] = 0;
    return id_equals(written, id);
}

/* A batch may contain the request as well as a single line. */
static OWN char *
backlog_find_in_line(const struct wanted *w, struct text line)
{
    char error[MESSAGE_ERROR_BYTES];
    CLEANUP(message_putp) struct message *m = NULL;
    char *found = NULL;

    if (w->id && !backlog_may_have(line, w->id))
        return NULL;
    if (message_new(line.p, line.len, &m, error) != 0)
        return NULL;
    if (!json_is(m->root, JSON_ARRAY))
        return backlog_find_in_object(w, m->root);
    JSON_EACH(request, m->root)
        if (!found)
            found = backlog_find_in_object(w, request);
    return found;
}

/* The id of the oldest, as JSON. */
static OWN char *
backlog_find(const struct backlog *b, const struct wanted *w)
{
    char *found = NULL;

    LIST_FOR_EACH(it, &b->chunks) {
        const struct backlog_chunk *c =
            CONTAINER_OF(it, struct backlog_chunk, link);
        for (size_t at = c->begin; !found && at < c->end;)
            found = backlog_find_in_line(w, backlog_next_line(c, &at));
    }
    return found;
}

static struct cancelled *
backlog_find_cancelled(const struct backlog *b, const char *scope,
                       const char *id)
{
    LIST_FOR_EACH(it, &b->cancelled) {
        struct cancelled *n = CONTAINER_OF(it, struct cancelled, link);
        if (!strcmp(n->text, scope) &&
            !strcmp(n->text + strlen(n->text) + 1, id))
            return n;
    }
    return NULL;
}

/* Scope and id are kept in one allocation, each with its NUL. */
static bool
backlog_add_cancelled(struct backlog *b, const char *scope, const char *id)
{
    struct cancelled *n = malloc(sizeof *n + strlen(scope) + strlen(id) + 2);

    if (!n)
        return false;
    memcpy(stpcpy(n->text, scope) + 1, id, strlen(id) + 1);
    list_push_back(&b->cancelled, &n->link);
    return true;
}

bool
backlog_cancel(struct backlog *b, const struct wanted *w, const char *scope)
{
    char *id = backlog_find(b, w);
    bool is = id && (backlog_find_cancelled(b, scope, id) ||
                     backlog_add_cancelled(b, scope, id));

    free(id);
    return is;
}

bool
backlog_was_cancelled(struct backlog *b, const char *scope, const char *id)
{
    struct cancelled *n = id ? backlog_find_cancelled(b, scope, id) : NULL;

    if (n)
        backlog_drop_one(n);
    return n;
}

/* --- envelopes */

/* A string without its quotes; another value, and one with escapes, is as if
 * it were not there. */
static struct text
envelope_unquote(struct text t)
{
    if (t.len < 2 || *t.p != '"' || memchr(t.p, '\\', t.len))
        return (struct text){"", 0};
    return (struct text){t.p + 1, t.len - 2};
}

/* The line is scanned, not parsed: no tree is built, and strings are not
 * decoded. A method or id with escapes is therefore not recognised; such a
 * line just waits. */
bool
envelope_read(const char *line, size_t len, struct envelope *ret)
{
    const struct {
        const char *name;
        struct text *value;
    } known[] = {
        {"method", &ret->method}, {"type", &ret->type}, {"id", &ret->id}};
    enum { N_KNOWN = sizeof known / sizeof *known };
    struct json_member m;
    struct json_scan s;

    for (size_t i = 0; i < N_KNOWN; i++)
        *known[i].value = (struct text){"", 0};
    if (!json_scan_begin((struct text){line, len}, &s))
        return false;
    while (json_scan_next(&s, &m))
        for (size_t i = 0; i < N_KNOWN; i++)
            if (text_is(m.name, known[i].name))
                *known[i].value = m.value;
    ret->raw_id = ret->id;
    for (size_t i = 0; i < N_KNOWN; i++)
        *known[i].value = envelope_unquote(*known[i].value);
    return json_scan_is_over(&s);
}

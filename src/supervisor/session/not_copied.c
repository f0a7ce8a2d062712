/* notCopied of session.fork and session.resume: the processes that the copied
 * state had. The record comes from a worker, which may be hostile. It is only
 * passed on as text. */
#include "supervisor/session/not_copied.h"

#include "base/json.h"
#include "record/record.h"
#include "supervisor/session/session.h"

#include <stdlib.h>
#include <string.h>

/* Returns the value of the fact, or NULL. Facts are the first records, so the
 * search ends at the first other record. */
static const char *
not_copied_find_fact(const uint8_t *p, size_t len, size_t *ret_len)
{
    struct record_head h;
    struct record_key k;

    while (len >= RECORD_HEAD_BYTES && record_head_get(p, &h) == 0) {
        size_t n = RECORD_HEAD_BYTES + (size_t)h.key_len + h.value_len;
        const uint8_t *key = p + RECORD_HEAD_BYTES;
        if (n > len || h.op != RECORD_PUT ||
            record_key_get(key, h.key_len, &k) != 0 || k.type != RECORD_FACT)
            return NULL;
        *ret_len = h.value_len;
        if (record_fact_of(&k) == FACT_processes)
            return (const char *)key + h.key_len;
        p += n;
        len -= n;
    }
    return NULL;
}

/* The value must end with a NUL, because it is later read as strings. */
void
session_keep_not_copied(struct session *s, const void *frames, size_t len)
{
    size_t n = 0;
    const char *value = not_copied_find_fact(frames, len, &n);

    free(s->not_copied);
    s->not_copied_len = 0;
    s->not_copied = value && n && !value[n - 1] ? malloc(n) : NULL;
    if (!s->not_copied)
        return;
    memcpy(s->not_copied, value, n);
    s->not_copied_len = n;
}

/* Parses "PID ID COMMAND" as gone.h of the library writes it. */
static void
not_copied_put_process(struct buf *b, const char *text)
{
    char *end;

    buf_puts(b, "{");
    put_number(b, "pid", strtoull(text, &end, 10));
    uint64_t id = strtoull(end, &end, 10);
    if (id)
        put_number(b, "processId", id);
    put_name(b, "command");
    put_text(b, end + (*end == ' '));
    buf_puts(b, "}");
}

/* The list is reported once, in the first answer after the copy. */
void
session_put_copied(struct session *s, struct buf *b)
{
    const char *at = s->not_copied;

    session_put_json(s, b);
    if (at && !b->error) {
        b->len--; /* goes on */
        put_name(b, "notCopied");
        for (const char *p = at; p < at + s->not_copied_len;
             p += strlen(p) + 1) {
            buf_puts(b, p == at ? "[" : ",");
            not_copied_put_process(b, p);
        }
        buf_puts(b, "]}");
    }
    free(STEAL(s->not_copied));
    s->not_copied_len = 0;
}

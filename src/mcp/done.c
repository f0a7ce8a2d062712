/* Results of tools: from answers of the server to content for the client. */
#include "base/base64.h"
#include "mcp/adapter_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OUTPUT_BYTES = 30000,     /* of a stream in a result, unless asked */
    SHOWN_BYTES_MAX = 100000, /* of a text file in a result */
    LINES_DEFAULT = 2000,     /* likewise */
    NOTE_BYTES = 256,
};

static void
put_text_item(struct buf *b, const char *p, size_t len)
{
    buf_puts(b, "{\"type\":\"text\",\"text\":");
    put_string(b, p, len);
    buf_puts(b, "}");
}

static void
put_content(struct buf *b, const char *p, size_t len)
{
    put_name(b, "content");
    buf_puts(b, "[");
    put_text_item(b, p, len);
    buf_puts(b, "]");
}

/* Ends the call with a structured result, which is also its text. Consumes
 * the object in t. */
static void
done_object(OWN struct call *q, struct buf *t)
{
    struct buf *b = adapter_begin(q);

    put_content(b, t->p, t->len);
    put_name(b, "structuredContent");
    buf_add(b, t->p, t->len);
    if (t->error && !b->error)
        b->error = t->error;
    buf_fini(t);
    adapter_end(q);
}

void
done_plain(OWN struct call *q, const struct json *result, const char *error)
{
    struct buf t;

    if (!result) {
        adapter_fail(q, error);
        return;
    }
    buf_init(&t, SIZE_MAX);
    buf_puts(&t, "{");
    tool_put_result(&t, adapter_call_of(q)->tool, result);
    buf_puts(&t, "}");
    done_object(q, &t);
}

void
done_sandbox_list(OWN struct call *q, const struct json *result,
                  const char *error)
{
    struct buf t;

    if (!result) {
        adapter_fail(q, error);
        return;
    }
    buf_init(&t, SIZE_MAX);
    buf_puts(&t, "{\"sandboxes\":[");
    JSON_EACH(s, result) {
        const struct json *label = json_get(s, "label");
        buf_puts(&t, s == json_first(result) ? "{" : ",{");
        put_name(&t, "sandbox_id");
        json_put(&t, json_get(s, "sandboxId"));
        if (label) {
            put_name(&t, "label");
            json_put(&t, label);
        }
        buf_puts(&t, "}");
    }
    buf_puts(&t, "]}");
    done_object(q, &t);
}

/* --- run */

/* Moves a position back to the beginning of a character. */
static size_t
char_begin(struct text t, size_t at)
{
    while (at > 0 && at < t.len && ((unsigned char)t.p[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* Appends the first two thirds and the last third of `max` bytes, and a line
 * between them that says where the rest is. */
static void
put_ends(struct buf *b, struct text t, size_t max, const char *rest)
{
    if (t.len <= max) {
        buf_add(b, t.p, t.len);
        return;
    }
    size_t head = char_begin(t, max / 3 * 2);
    size_t tail = char_begin(t, t.len - max / 3);
    buf_add(b, t.p, head);
    buf_printf(b, "\n[%zu bytes left out; %s]\n", tail - head, rest);
    buf_add(b, t.p + tail, t.len - tail);
}

/* Writes the result of a command. `file` has the whole output; NULL: the
 * output is complete, or `rest` says why there is no file. */
static void
run_answer(OWN struct call *q, const struct json *r, const char *file,
           const char *rest)
{
    struct text ended = json_text(json_get(r, "errorClass"));
    struct text message = json_text(json_get(r, "message"));
    size_t max = OUTPUT_BYTES;
    struct buf *b = adapter_begin(q);
    struct buf out, err, all;
    int64_t n;

    if (json_whole(adapter_arg(q, "max_output"), &n))
        max = (size_t)n;
    buf_init(&out, SIZE_MAX);
    buf_init(&err, SIZE_MAX);
    buf_init(&all, SIZE_MAX);
    put_ends(&out, json_text(json_get(r, "stdout")), max, rest);
    put_ends(&err, json_text(json_get(r, "stderr")), max, rest);
    buf_add(&all, out.p, out.len);
    if (err.len) {
        buf_puts(&all, "\n[stderr]\n");
        buf_add(&all, err.p, err.len);
    }
    if (message.len) {
        buf_puts(&all, "\n[");
        buf_add(&all, message.p, message.len);
        buf_puts(&all, "]");
    }
    buf_printf(&all, "\n[exit code %" PRId64 "]",
               json_integer(json_get(r, "exitCode")));
    put_content(b, all.p, all.len);
    put_name(b, "structuredContent");
    buf_puts(b, "{");
    tool_put_result(b, adapter_call_of(q)->tool, r);
    put_name(b, "stdout");
    put_string(b, out.p, out.len);
    put_name(b, "stderr");
    put_string(b, err.p, err.len);
    if (file)
        put_member(b, "output_file", file);
    buf_puts(b, "}");
    if (ended.len && !text_is(ended, "CAPABILITY_DENIED"))
        put_bool(b, "isError", true);
    if (!b->error && (out.error || err.error || all.error))
        b->error = -ENOMEM;
    buf_fini(&out);
    buf_fini(&err);
    buf_fini(&all);
    adapter_end(q);
}

static void
run_file_name(const struct call *q, char ret[64])
{
    (void)snprintf(ret, 64, "/tmp/mcp-output-%" PRIu64 ".txt",
                   adapter_call_of(q)->number);
}

/* The file with the whole output was written, or could not be. */
static void
run_file_done(OWN struct call *q, const struct json *result, const char *error)
{
    struct adapter_call *c = adapter_call_of(q);
    char file[64], rest[NOTE_BYTES];
    struct json_fault fault;
    struct json_doc doc;

    run_file_name(q, file);
    if (result)
        (void)snprintf(rest, sizeof rest, "the whole output is in %s", file);
    else
        (void)snprintf(rest, sizeof rest, "they could not be kept: %.150s",
                       error);
    if (json_read_copy(&doc, c->kept, c->kept_len, &fault) < 0) {
        adapter_fail(q, "out of memory");
        return;
    }
    run_answer(q, doc.v, result ? file : NULL, rest);
    json_fini(&doc);
}

/* Writes the whole output into a file of the sandbox before the answer, so that
 * the answer can name the file. */
static void
run_keep(OWN struct call *q, const struct json *result)
{
    struct adapter_call *c = adapter_call_of(q);
    const struct json *sandbox = adapter_arg(q, "sandbox_id");
    struct text out = json_text(json_get(result, "stdout"));
    struct text err = json_text(json_get(result, "stderr"));
    struct buf kept, all, p;
    char file[64];

    buf_init(&kept, SIZE_MAX);
    buf_init(&all, SIZE_MAX);
    buf_init(&p, SIZE_MAX);
    json_put(&kept, result);
    buf_add(&all, out.p, out.len);
    if (err.len) {
        buf_puts(&all, "\n[stderr]\n");
        buf_add(&all, err.p, err.len);
    }
    c->number = ++adapter_of(q)->n_files;
    run_file_name(q, file);
    buf_puts(&p, "{");
    put_member(&p, "path", file);
    put_bool(&p, "parents", true);
    put_name(&p, "data");
    put_base64(&p, all.p, all.len);
    if (sandbox) {
        put_name(&p, "sandboxId");
        json_put(&p, sandbox);
    }
    buf_puts(&p, "}");
    if (kept.error || all.error) {
        adapter_fail(q, "out of memory");
    } else {
        c->kept_len = kept.len;
        c->kept = buf_steal(&kept);
        c->step = run_file_done;
        adapter_ask(q, "files.write", &p);
    }
    buf_fini(&kept);
    buf_fini(&all);
    buf_fini(&p);
}

/* A command that a limit ended is an error; any exit status is not. */
void
done_run(OWN struct call *q, const struct json *result, const char *error)
{
    int64_t max = OUTPUT_BYTES;

    if (!result) {
        adapter_fail(q, error);
        return;
    }
    (void)json_whole(adapter_arg(q, "max_output"), &max);
    if (json_text(json_get(result, "stdout")).len > (size_t)max ||
        json_text(json_get(result, "stderr")).len > (size_t)max)
        run_keep(q, result);
    else
        run_answer(q, result, NULL, "");
}

/* --- files */

/* Returns the MIME type of an image that clients show; NULL: not one of
 * them. */
static const char *
image_type(const char *p, size_t len)
{
    if (len >= 8 && !memcmp(p, "\x89PNG\r\n\x1a\n", 8))
        return "image/png";
    if (len >= 3 && !memcmp(p, "\xff\xd8\xff", 3))
        return "image/jpeg";
    if (len >= 6 && (!memcmp(p, "GIF87a", 6) || !memcmp(p, "GIF89a", 6)))
        return "image/gif";
    if (len >= 12 && !memcmp(p, "RIFF", 4) && !memcmp(p + 8, "WEBP", 4))
        return "image/webp";
    return NULL;
}

/* Returns the bytes of a file, which the caller frees, or NULL after ending the
 * call. */
static char *
file_bytes(OWN struct call *q, const struct json *result, const char *error,
           size_t *ret_len)
{
    struct text data = json_text(json_get(result, "data"));

    if (!result) {
        adapter_fail(q, error);
        return NULL;
    }
    char *p = malloc(BASE64_BYTES(data.len) + 1);
    if (!p || base64_decode(data.p, data.len, p, ret_len) < 0) {
        free(p);
        adapter_fail(q, "out of memory");
        return NULL;
    }
    if (*ret_len > FILE_BYTES_MAX) {
        free(p);
        adapter_fail(q,
                     "The file is larger than 8 MiB. Use run with head, tail, "
                     "sed or grep to see parts of it.");
        return NULL;
    }
    return p;
}

/* Returns the position after `n` lines from `at`. */
static size_t
lines_skip(const char *p, size_t len, size_t at, int64_t n)
{
    while (n-- > 0 && at < len) {
        const char *nl = memchr(p + at, '\n', len - at);
        at = nl ? (size_t)(nl - p) + 1 : len;
    }
    return at;
}

/* Shows the lines that were asked for. A second text says what is missing, so
 * that the first one has the bytes of the file alone. */
static void
read_show_text(OWN struct call *q, const char *p, size_t len)
{
    int64_t from = 1, lines = LINES_DEFAULT;
    char note[NOTE_BYTES] = "";

    (void)json_whole(adapter_arg(q, "from_line"), &from);
    (void)json_whole(adapter_arg(q, "lines"), &lines);
    size_t begin = lines_skip(p, len, 0, from - 1);
    size_t end = lines_skip(p, len, begin, lines);
    if (end - begin > SHOWN_BYTES_MAX)
        end = char_begin((struct text){p, len}, begin + SHOWN_BYTES_MAX);
    if (end < len)
        (void)snprintf(note, sizeof note,
                       "[%zu bytes of the file follow; from_line and lines "
                       "choose others]",
                       len - end);
    struct buf *b = adapter_begin(q);
    put_name(b, "content");
    buf_puts(b, "[");
    put_text_item(b, p + begin, end - begin);
    if (*note) {
        buf_puts(b, ",");
        put_text_item(b, note, strlen(note));
    }
    buf_puts(b, "]");
    adapter_end(q);
}

void
done_read_file(OWN struct call *q, const struct json *result, const char *error)
{
    struct text data = json_text(json_get(result, "data"));
    size_t len = 0;
    char *p = file_bytes(q, result, error, &len);

    if (!p)
        return;
    const char *type = image_type(p, len);
    if (type) {
        struct buf *b = adapter_begin(q);
        buf_puts(b, "\"content\":[{\"type\":\"image\",\"data\":");
        put_string(b, data.p, data.len);
        put_member(b, "mimeType", type);
        buf_puts(b, "}]");
        adapter_end(q);
    } else if (memchr(p, 0, len)) {
        adapter_fail(q,
                     "The file is not text. Use run with file, xxd or strings "
                     "to examine it.");
    } else {
        read_show_text(q, p, len);
    }
    free(p);
}

/* --- edits */

static void
edit_done(OWN struct call *q, const struct json *result, const char *error)
{
    struct buf t;

    if (!result) {
        adapter_fail(q, error);
        return;
    }
    buf_init(&t, SIZE_MAX);
    buf_puts(&t, "{");
    put_number(&t, "replacements", adapter_call_of(q)->number);
    buf_puts(&t, "}");
    done_object(q, &t);
}

/* Replaces each occurrence, and returns how many there are. */
static uint64_t
edit_replace(struct buf *b, struct text in, struct text old, struct text new)
{
    const char *at = in.p, *end = in.p + in.len, *hit;
    uint64_t n = 0;

    for (; (hit = memmem(at, (size_t)(end - at), old.p, old.len)); n++) {
        buf_add(b, at, (size_t)(hit - at));
        buf_add(b, new.p, new.len);
        at = hit + old.len;
    }
    buf_add(b, at, (size_t)(end - at));
    return n;
}

static void
edit_write(OWN struct call *q, const struct buf *bytes)
{
    const struct json *sandbox = adapter_arg(q, "sandbox_id");
    struct buf p;

    buf_init(&p, SIZE_MAX);
    buf_puts(&p, "{");
    put_name(&p, "path");
    json_put(&p, adapter_arg(q, "path"));
    put_name(&p, "data");
    put_base64(&p, bytes->p, bytes->len);
    if (sandbox) {
        put_name(&p, "sandboxId");
        json_put(&p, sandbox);
    }
    buf_puts(&p, "}");
    adapter_call_of(q)->step = edit_done;
    adapter_ask(q, "files.write", &p);
    buf_fini(&p);
}

static void
edit_bytes(OWN struct call *q, struct text in)
{
    struct text old = json_text(adapter_arg(q, "old"));
    struct text new = json_text(adapter_arg(q, "new"));
    char text[NOTE_BYTES];
    struct buf out;

    if (!old.len) {
        adapter_fail(q, "old must not be empty");
        return;
    }
    buf_init(&out, SIZE_MAX);
    uint64_t n = edit_replace(&out, in, old, new);
    adapter_call_of(q)->number = n;
    if (out.error) {
        adapter_fail(q, "out of memory");
    } else if (!n) {
        adapter_fail(q,
                     "The text of `old` is not in the file. Read the file, and "
                     "copy the text exactly.");
    } else if (n > 1 && !json_is(adapter_arg(q, "all"), JSON_TRUE)) {
        (void)snprintf(text, sizeof text,
                       "The text of `old` occurs %" PRIu64
                       " times. Add lines around it, or set `all`.",
                       n);
        adapter_fail(q, text);
    } else {
        edit_write(q, &out);
    }
    buf_fini(&out);
}

void
done_edit_file(OWN struct call *q, const struct json *result, const char *error)
{
    size_t len = 0;
    char *p = file_bytes(q, result, error, &len);

    if (!p)
        return;
    edit_bytes(q, (struct text){p, len});
    free(p);
}

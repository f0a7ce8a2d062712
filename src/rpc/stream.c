/* Output as notifications: no character of UTF-8 is split between two. */
#include "rpc/stream.h"

#include "rpc/rpc.h"

#include <string.h>

static void
put_notification(struct buf *b, const struct stream *s, int stream,
                 struct text head, struct text body)
{
    struct buf joined;

    buf_puts(b, "{\"jsonrpc\":\"2.0\",\"method\":\"output\",\"params\":{");
    put_name(b, s->id_name);
    buf_puts(b, s->id);
    if (s->sandbox_id) {
        put_name(b, "sandbox_id");
        buf_puts(b, s->sandbox_id);
    }
    put_name(b, "stream");
    put_text(b, stream == 1 ? "stdout" : "stderr");
    put_name(b, "data");
    buf_init(&joined, SIZE_MAX);
    buf_add(&joined, head.p, head.len);
    buf_add(&joined, body.p, body.len);
    if (s->is_base64)
        put_base64(b, joined.p, joined.len);
    else
        put_string(b, joined.p, joined.len);
    if (joined.error)
        b->error = joined.error;
    buf_fini(&joined);
    put_number(b, "seq", s->seq);
    if (s->is_base64) {
        put_name(b, "encoding");
        put_text(b, "base64");
    }
    buf_puts(b, "}}\n");
}

static void
notify(struct stream *s, int stream, struct text head, struct text body)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    put_notification(&b, s, stream, head, body);
    if (!b.error) {
        writer_put(&s->srv->out, b.p, b.len, s->may_wait);
        s->seq++;
    }
    buf_fini(&b);
}

/* Adds bytes to a tail until it is a character, or cannot become one. How many
 * were taken. */
static size_t
complete_tail(struct tail *t, const char *p, size_t len)
{
    size_t taken = 0;

    while (t->len && taken < len && text_cut_tail(t->bytes, t->len) == t->len)
        t->bytes[t->len++] = p[taken++];
    /* It ended in the beginning of another one. */
    if (taken && t->len > 1 && text_cut_tail(t->bytes, t->len) == 1) {
        t->len--;
        taken--;
    }
    return taken;
}

void
stream_on_output(void *arg, int stream, const void *data, size_t len)
{
    struct stream *s = arg;
    struct tail *t = &s->tails[stream == 1 ? 0 : 1];
    const char *p = data;

    if (s->is_base64) {
        notify(s, stream, (struct text){"", 0}, (struct text){p, len});
        return;
    }
    size_t taken = complete_tail(t, p, len);
    if (t->len && text_cut_tail(t->bytes, t->len) == t->len)
        return;
    p += taken;
    len -= taken;
    size_t cut = text_cut_tail(p, len);
    if (t->len + len > cut)
        notify(s, stream, (struct text){t->bytes, t->len},
               (struct text){p, len - cut});
    memcpy(t->bytes, p + len - cut, cut);
    t->len = cut;
}

void
stream_end(struct stream *s)
{
    for (int i = 0; i < 2; i++) {
        struct tail *t = &s->tails[i];
        if (t->len)
            notify(s, i + 1, (struct text){t->bytes, t->len},
                   (struct text){"", 0});
        t->len = 0;
    }
}

/* Output as notifications: no character of UTF-8 is split between two.
 *
 * Flow control: a client may grant a window, in bytes of output. The library
 * asks for the window before a process writes, and lets the process wait if it
 * is 0; output.window adds to it. Output that waits for no window makes it
 * negative, so the client's sum is right again later. The loop adds and one
 * thread subtracts, hence one atomic number is enough. */
#include "wire/stream.h"

#include "wire/peer.h"

#include <string.h>

/* More makes no difference, and its sum does not overflow. */
#define WINDOW_BYTES_MAX (INT64_C(1) << 60)

/* The names of these members are fixed by the protocol, also the ones with
 * underscores. */
static void
stream_put(struct buf *b, const struct stream *s, int stream, struct text data)
{
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
    if (s->is_base64)
        put_base64(b, data.p, data.len);
    else
        put_string(b, data.p, data.len);
    put_number(b, "seq", s->seq);
    if (s->is_base64) {
        put_name(b, "encoding");
        put_text(b, "base64");
    }
    buf_puts(b, "}}\n");
}

/* A notification that does not fit into memory is lost, and its number is not
 * used. */
static void
stream_notify(struct stream *s, int stream, struct text data)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    stream_put(&b, s, stream, data);
    if (!b.error) {
        s->peer->ops->send(s->peer, b.p, b.len, s->may_wait);
        s->seq++;
    }
    buf_fini(&b);
}

/* Sends the bytes that were held back, then the new ones, except an incomplete
 * character at the end. */
static void
stream_notify_whole(struct stream *s, int stream, struct text data)
{
    struct tail *t = &s->tails[stream == 1 ? 0 : 1];
    CLEANUP(buf_fini) struct buf all;

    buf_init(&all, SIZE_MAX);
    buf_add(&all, t->bytes, t->len);
    buf_add(&all, data.p, data.len);
    if (all.error)
        return;
    size_t cut = text_cut_tail(all.p, all.len);
    if (all.len > cut)
        stream_notify(s, stream, (struct text){all.p, all.len - cut});
    memcpy(t->bytes, all.p + all.len - cut, cut);
    t->len = cut;
}

/* --- the window */

/* Without a window, the only limit is that of the queue of output. */
size_t
stream_window(void *arg)
{
    const struct stream *s = arg;

    if (!s->has_window)
        return SIZE_MAX;
    int64_t left = s->window;
    return left > 0 ? (size_t)left : 0;
}

/* A window of 0 bytes is not accepted by the row, so 0 means that there is
 * none. */
void
stream_set_window(struct stream *s, const struct call *q)
{
    s->window = param_int(q, "windowBytes", 0);
    s->has_window = s->window > 0;
}

/* A sum beyond the maximum would overflow in the end. */
void
stream_add_window(struct stream *s, int64_t bytes)
{
    if (s->window < WINDOW_BYTES_MAX)
        s->window += bytes;
}

/* --- output */

void
stream_on_output(void *arg, int stream, const void *data, size_t len)
{
    struct stream *s = arg;

    s->window -= (int64_t)len;
    if (s->is_base64)
        stream_notify(s, stream, (struct text){data, len});
    else
        stream_notify_whole(s, stream, (struct text){data, len});
}

/* Bytes that never became a character are sent as they are. */
void
stream_end(struct stream *s)
{
    for (int i = 0; i < 2; i++) {
        struct tail *t = &s->tails[i];
        if (t->len)
            stream_notify(s, i + 1, (struct text){t->bytes, t->len});
        t->len = 0;
    }
}

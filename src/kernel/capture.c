/* Captured output and given input.
 *
 * A full buffer must not block the command: further bytes are counted and
 * dropped. With `head`, the buffer is a fixed part followed by a ring, so that
 * the first and the newest bytes are kept with O(1) work for each byte. */
#include "kernel/capture.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

OWN struct capture *
capture_new(size_t max, bool is_ring)
{
    struct capture *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    *c = (struct capture){.refs = 1, .max = max, .is_ring = is_ring};
    waitq_init(&c->writable);
    return c;
}

static struct capture *
capture_get(struct capture *c)
{
    c->refs++;
    return c;
}

void
capture_put(OWN struct capture *c)
{
    if (!c || --c->refs)
        return;
    capture_put(c->later);
    waitq_fini(&c->writable);
    free(c->data);
    free(c);
}

/* Called when a run is answered: the buffer now belongs to the answer, and
 * processes that still write get another destination. */
void
capture_close(struct capture *c, struct capture *later)
{
    c->later = capture_get(later);
    capture_wake(c);
}

static void
capture_reverse(char *p, size_t len)
{
    for (size_t i = 0; i < len / 2; i++) {
        char c = p[i];
        p[i] = p[len - 1 - i];
        p[len - 1 - i] = c;
    }
}

/* Rotates the ring behind the head, so that it begins with the oldest byte.
 * Both parts are reversed, then the whole: this needs no second buffer. */
static void
capture_put_in_order(struct capture *c)
{
    char *ring = c->data + c->head;
    size_t len = c->max - c->head;

    capture_reverse(ring, c->oldest);
    capture_reverse(ring + c->oldest, len - c->oldest);
    capture_reverse(ring, len);
    c->oldest = 0;
}

OWN char *
capture_take(struct capture *c, size_t *ret_len)
{
    char *data = c->data;

    if (c->oldest)
        capture_put_in_order(c);

    *ret_len = c->len;
    c->data = NULL;
    c->len = c->cap = 0;
    return data;
}

/* Reserves memory for n more bytes; false: no memory. */
static bool
capture_reserve(struct capture *c, size_t n)
{
    size_t cap = c->cap ? c->cap : 256;

    while (cap < c->len + n)
        cap *= 2;
    if (cap == c->cap)
        return true;
    char *data = realloc(c->data, cap);
    if (!data)
        return false;
    c->data = data;
    c->cap = cap;
    return true;
}

/* Makes a ring drop its oldest bytes, half of them at a time, so that each byte
 * is moved a constant number of times on average. */
static void
capture_make_room(struct capture *c, size_t n)
{
    if (!c->is_ring || c->len + n <= c->max)
        return;
    size_t gone = c->max / 2 > n ? c->max / 2 : c->len;
    gone = gone < c->len ? gone : c->len;
    memmove(c->data, c->data + gone, c->len - gone);
    c->len -= gone;
    c->dropped += gone;
}

void
capture_wake(struct capture *c)
{
    waitq_wake(&c->writable);
}

/* Output of a process that outlives its run goes to a later capture, and from
 * there possibly to a third one. */
static struct capture *
capture_last_of(struct capture *c)
{
    while (c->later)
        c = c->later;
    return c;
}

/* A window is the space that a client has granted; without a client there is no
 * limit. */
static size_t
capture_window(const struct capture *c)
{
    return c->window ? c->window(c->arg) : SIZE_MAX;
}

/* Overwrites the oldest bytes behind the head. Only the last bytes of a long
 * write can stay, so the others are skipped. */
static void
capture_overwrite(struct capture *c, const char *p, size_t len)
{
    size_t ring = c->max - c->head;

    if (len > ring) {
        p += len - ring;
        len = ring;
    }
    while (len) {
        size_t n = ring - c->oldest < len ? ring - c->oldest : len;
        memcpy(c->data + c->head + c->oldest, p, n);
        c->oldest = (c->oldest + n) % ring;
        p += n;
        len -= n;
    }
}

/* The call-back gets all bytes; the limit applies to the bytes that are
 * kept. */
void
capture_add(struct capture *c, const char *p, size_t len)
{
    c = capture_last_of(c);
    if (c->on_bytes)
        c->on_bytes(c->arg, p, len);
    if (c->is_tap)
        return;
    capture_make_room(c, len);
    size_t n = c->max - c->len < len ? c->max - c->len : len;
    if (n && !capture_reserve(c, n))
        n = 0;
    if (n)
        memcpy(c->data + c->len, p, n);
    c->len += n;
    c->dropped += len - n;
    if (c->head && c->len == c->max)
        capture_overwrite(c, p + n, len - n);
}

/* The file looks like a pipe: it has no position, and a full window makes
 * writers wait. */
static int64_t
capture_write(struct file *f, struct task *t, const void *buf, size_t len,
              uint64_t *pos)
{
    size_t max = capture_window(capture_last_of(f->obj)),
           n = len < max ? len : max;

    (void)t, (void)pos;
    if (!max)
        return -EAGAIN;
    capture_add(f->obj, buf, n);
    return (int64_t)n;
}

/* Queues of the last capture: a writer that waited on an earlier one was woken
 * when that was closed. */
static short
capture_poll(struct file *f, struct poll_table *pt)
{
    struct capture *c = capture_last_of(f->obj);

    poll_wait(pt, &c->writable);
    return capture_window(c) ? POLLOUT | POLLWRNORM : 0;
}

static int
capture_getattr(struct file *f, struct attr *ret)
{
    return file_anon_attr(f, S_IFIFO | 0600, ret);
}

/* Files of processes that are left may outlive the run, hence the count. */
static void
capture_release(struct file *f)
{
    capture_put(f->obj);
}

static const struct file_ops capture_ops = {
    .kind = "pipe",
    .write = capture_write,
    .poll = capture_poll,
    .getattr = capture_getattr,
    .release = capture_release,
};

int
capture_open(struct kernel *k, struct capture *c, OWN struct file **ret)
{
    return file_new(&k->vfs, &capture_ops, capture_get(c), O_WRONLY, ret);
}

/* --- input */

/* Bytes that a program reads from its standard input, in one piece. */
struct capture_input {
    size_t len, at;
    char data[];
};

static int64_t
capture_input_read(struct file *f, struct task *t, void *buf, size_t len,
                   uint64_t *pos)
{
    struct capture_input *in = f->obj;
    size_t n = in->len - in->at < len ? in->len - in->at : len;

    (void)t, (void)pos;
    memcpy(buf, in->data + in->at, n);
    in->at += n;
    return (int64_t)n;
}

static void
capture_input_release(struct file *f)
{
    free(f->obj);
}

static const struct file_ops input_ops = {
    .kind = "pipe",
    .read = capture_input_read,
    .getattr = capture_getattr,
    .release = capture_input_release,
};

/* Programs that check their input see a pipe that ends. */
int
capture_input_open(struct kernel *k, const void *data, size_t len,
                   OWN struct file **ret)
{
    struct capture_input *in = malloc(sizeof *in + len);

    if (!in)
        return -ENOMEM;
    in->len = len;
    in->at = 0;
    memcpy(in->data, data, len);
    return file_new(&k->vfs, &input_ops, in, O_RDONLY, ret);
}

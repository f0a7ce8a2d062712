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
    struct capture *c = malloc(sizeof *c);

    if (!c)
        return NULL;
    *c = (struct capture){.refs = 1, .max = max, .is_ring = is_ring};
    waitq_init(&c->writable);
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
    c->refs++;
    return file_new(&k->vfs, &capture_ops, c, O_WRONLY, ret);
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

/* --- the standard streams of commands
 *
 * Problem: opening three files and two buffers is most of the work for a short
 * command. Idea: the streams of the last command become those of the next one.
 * This is right only if nothing can tell them from new ones. So only the
 * descriptors of the task may refer to their files, nobody may watch or lock
 * these, and no other file may write to the captures. The files get new
 * numbers, as new files do. */

/* Opens new streams in place of those that cannot be used again. */
static int
streams_replace(struct streams *s, struct task *t,
                const struct streams_options *o)
{
    struct file *f;

    streams_fini(s);
    s->out = capture_new(o->out_max, false);
    s->err = capture_new(o->err_max, false);
    if (!s->out || !s->err)
        return -ENOMEM;
    s->out->head = o->keep_ends ? o->out_max / 2 : 0;
    s->err->head = o->keep_ends ? o->err_max / 2 : 0;
    int r = capture_input_open(t->kernel, o->input ? o->input : "",
                               o->input_len, &f);
    if (r >= 0)
        r = fd_replace(t, 0, f, false);
    if (r >= 0)
        r = capture_open(t->kernel, s->out, &f);
    if (r >= 0)
        r = fd_replace(t, 1, f, false);
    if (r >= 0)
        r = capture_open(t->kernel, o->merge ? s->out : s->err, &f);
    if (r >= 0)
        r = fd_replace(t, 2, f, false);
    if (r < 0)
        streams_fini(s);
    return r < 0 ? r : 0;
}

/* The reference to `later` is not the last one: its owner has another. */
int
streams_open(struct streams *s, struct task *t, const struct streams_options *o)
{
    struct capture *both[] = {s->out, s->err};
    const size_t max[] = {o->out_max, o->err_max};
    const struct fd_entry *v = t->fds.v;
    bool is_usable = s->out && s->out->refs + s->err->refs == 4 &&
                     t->fds.cap >= 3 && !o->input_len && !t->kernel->locks;

    for (int i = 0; is_usable && i < 3; i++) {
        const struct file *f = v[i].file;
        is_usable = f && f->refs == 1 && !v[i].cloexec &&
                    list_is_empty(&f->watchers) &&
                    (i ? f->obj == both[i == 2 && !o->merge]
                       : f->ops == &input_ops &&
                             !((const struct capture_input *)f->obj)->len);
    }
    if (!is_usable)
        return streams_replace(s, t, o);
    for (int i = 0; i < 3; i++) {
        v[i].file->flags = i ? O_WRONLY : O_RDONLY;
        v[i].file->anon_ino = ++t->kernel->vfs.next_anon_ino;
    }
    for (int i = 0; i < 2; i++) {
        struct capture *c = both[i];
        if (c->later)
            c->later->refs--;
        free(c->data);
        *c = (struct capture){.refs = c->refs,
                              .max = max[i],
                              .head = o->keep_ends ? max[i] / 2 : 0};
        waitq_init(&c->writable);
    }
    return 0;
}

/* Writers that wait for a window get the one of `later`. */
void
streams_close(struct streams *s, struct capture *later)
{
    struct capture *both[] = {s->out, s->err};

    for (int i = 0; i < 2; i++) {
        both[i]->on_bytes = NULL;
        both[i]->window = NULL;
        both[i]->later = later;
        later->refs++;
        if (!list_is_empty(&both[i]->writable.waiters))
            waitq_wake(&both[i]->writable);
    }
}

void
streams_fini(struct streams *s)
{
    capture_put(STEAL(s->out));
    capture_put(STEAL(s->err));
}

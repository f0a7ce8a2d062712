/* Queues 0 and 1 would be those of a console on port 0, which does not exist.
 * Port 1 is announced on the control queues when the driver is ready. */
#include "v86/virtio_console.h"

#include "base/list.h"

enum { CONSOLE_PORTS = 0xc080, CONSOLE_LINE = 10 };

enum {
    CONSOLE_F_MULTIPORT = 1 << 1,
    QUEUE_CONTROL_IN = 2,
    QUEUE_CONTROL_OUT,
    QUEUE_IN,
    QUEUE_OUT,
    CONSOLE_QUEUES,
};

enum {
    EVENT_DEVICE_READY = 0,
    EVENT_PORT_ADD = 1,
    EVENT_PORT_READY = 3,
    EVENT_PORT_OPEN = 6,
};

enum { CONSOLE_PORT = 1 };

static void
console_flush_events(struct virtio_console *c)
{
    struct virtio_buffer buf;

    while (c->n_events && virtio_take(&c->virtio, QUEUE_CONTROL_IN, &buf)) {
        uint32_t n =
            virtio_fill(&c->virtio, &buf, 0, c->event, sizeof *c->event);

        virtio_give(&c->virtio, QUEUE_CONTROL_IN, buf.head, n);
        c->n_events--;
        memmove(c->event, c->event + 1, c->n_events * sizeof *c->event);
    }
}

/* A guest that asks for more events than fit has a driver of its own, and loses
 * them. */
static void
console_post(struct virtio_console *c, uint16_t event, uint16_t value)
{
    if (c->n_events < CONSOLE_EVENTS)
        c->event[c->n_events++] =
            (struct console_event){CONSOLE_PORT, event, value};
    console_flush_events(c);
}

static void
console_handle_event(struct virtio_console *c, const struct console_event *e)
{
    if (e->event == EVENT_DEVICE_READY && e->value)
        console_post(c, EVENT_PORT_ADD, 1);
    else if (e->event == EVENT_PORT_READY && e->value)
        console_post(c, EVENT_PORT_OPEN, 1);
    else if (e->event == EVENT_PORT_OPEN)
        c->is_open = e->value;
}

static void
console_take_events(struct virtio_console *c)
{
    struct virtio_buffer buf;
    struct console_event e;

    while (virtio_take(&c->virtio, QUEUE_CONTROL_OUT, &buf)) {
        if (buf.n_read && buf.piece[0].len >= sizeof e) {
            memcpy(&e, buf.piece[0].p, sizeof e);
            console_handle_event(c, &e);
        }
        virtio_give(&c->virtio, QUEUE_CONTROL_OUT, buf.head, 0);
    }
}

/* Passes the rest of a buffer. Returns true if all of it was accepted. The
 * guest does not touch a buffer that it has not got back. */
static bool
console_put(struct virtio_console *c, const struct virtio_buffer *buf,
            uint32_t *done)
{
    uint32_t skip = *done;

    for (unsigned i = 0; i < buf->n_read; i++) {
        const struct virtio_piece *s = &buf->piece[i];
        uint32_t from = skip < s->len ? skip : s->len;

        skip -= from;
        if (from == s->len)
            continue;
        uint32_t n = c->output(c->self, s->p + from, s->len - from);
        *done += n;
        if (n < s->len - from)
            return false;
    }
    return true;
}

void
virtio_console_resume(struct virtio_console *c)
{
    while (c->has_partial || virtio_take(&c->virtio, QUEUE_OUT, &c->partial)) {
        if (!c->has_partial)
            c->partial_done = 0;
        c->has_partial = !console_put(c, &c->partial, &c->partial_done);
        if (c->has_partial)
            return;
        virtio_give(&c->virtio, QUEUE_OUT, c->partial.head, 0);
    }
}

uint32_t
virtio_console_input(struct virtio_console *c, const uint8_t *p, uint32_t len)
{
    uint32_t done = 0;
    struct virtio_buffer buf;

    while (done < len && virtio_take(&c->virtio, QUEUE_IN, &buf)) {
        uint32_t n = virtio_fill(&c->virtio, &buf, 0, p + done, len - done);

        virtio_give(&c->virtio, QUEUE_IN, buf.head, n);
        done += n;
    }
    return done;
}

static void
console_notify(struct virtio *v, unsigned queue)
{
    struct virtio_console *c = CONTAINER_OF(v, struct virtio_console, virtio);

    if (queue == QUEUE_CONTROL_IN)
        console_flush_events(c);
    else if (queue == QUEUE_CONTROL_OUT)
        console_take_events(c);
    else if (queue == QUEUE_OUT)
        virtio_console_resume(c);
}

static void
console_reset(struct virtio *v)
{
    struct virtio_console *c = CONTAINER_OF(v, struct virtio_console, virtio);

    c->is_open = c->has_partial = false;
    c->n_events = 0;
}

void
virtio_console_init(
    struct virtio_console *c, const struct bus *bus, struct pci *pci,
    uint32_t (*output)(void *self, const uint8_t *p, uint32_t len), void *self)
{
    static const struct virtio_ops ops = {.notify = console_notify,
                                          .reset = console_reset};
    static const struct pci_ident ident = {
        .vendor = 0x1af4,
        .device = 0x1003,
        .subsystem_vendor = 0x1af4,
        .subsystem = 3,
        .class_revision = 0x07800000,
    };
    struct {
        uint16_t columns, rows;
        uint32_t ports_max;
    } config = {.ports_max = CONSOLE_PORT + 1};

    *c = (struct virtio_console){.self = self, .output = output};
    virtio_init(&c->virtio, &ops, bus,
                pci_add(pci, &ident, CONSOLE_PORTS, VIRTIO_PORTS, CONSOLE_LINE),
                CONSOLE_QUEUES);
    c->virtio.features = CONSOLE_F_MULTIPORT;
    memcpy(c->virtio.config, &config, sizeof config);
}

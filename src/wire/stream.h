/* Output as notifications, while it is written. */
#ifndef WIRE_STREAM_H
#define WIRE_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call;
struct peer;

struct stream {
    struct peer *peer;        /* the receiver */
    const char *id_name, *id; /* as JSON */
    const char *sandbox_id;   /* as JSON; NULL: omitted */
    bool is_base64;
    bool may_wait; /* while the client is far behind */
    uint64_t seq;
    bool has_window;
    /* Bytes that the client takes now. Below 0 after output that waits for no
     * window. The loop adds to it, the sandbox's thread subtracts. */
    _Atomic int64_t window;
    struct tail {
        char bytes[4]; /* of a character that is not complete */
        size_t len;
    } tails[2];
};

/* Sends output of stdout (1) or stderr (2). arg is a struct stream, so that
 * this can be a call-back. */
void stream_on_output(void *arg, int stream, const void *data, size_t len);
/* Returns how many bytes the client accepts now. arg: as above. */
size_t stream_window(void *arg);
/* As `windowBytes` of the request says. */
void stream_set_window(struct stream *s, const struct call *q);
/* Adds bytes to the window. Waiting writers are not woken. */
void stream_add_window(struct stream *s, int64_t bytes);
/* Sends the bytes that were held back. */
void stream_end(struct stream *s);

#endif

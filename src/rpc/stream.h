/* Output as notifications, while it is written. */
#ifndef RPC_STREAM_H
#define RPC_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call;
struct server;

struct stream {
    struct server *srv;
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

/* wsand_run.on_output: arg is a struct stream. */
void stream_on_output(void *arg, int stream, const void *data, size_t len);
/* wsand_run.window and wsand_process_options.window: arg is a struct stream. */
size_t stream_window(void *arg);
/* As `windowBytes` of the request says. */
void stream_set_window(struct stream *s, const struct call *q);
/* Adds bytes to the window. Waiting writers are not woken. */
void stream_add_window(struct stream *s, int64_t bytes);
/* Sends the bytes that were held back. */
void stream_end(struct stream *s);

#endif

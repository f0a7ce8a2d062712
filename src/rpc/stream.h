/* Output as notifications, while it is written. */
#ifndef RPC_STREAM_H
#define RPC_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server;

struct stream {
    struct server *srv;
    const char *id_name, *id; /* as JSON */
    const char *sandbox_id;   /* as JSON; NULL: not told */
    bool is_base64;
    bool may_wait; /* while the client is far behind */
    uint64_t seq;
    struct tail {
        char bytes[4]; /* of a character that is not complete */
        size_t len;
    } tails[2];
};

/* wsand_run.on_output: arg is a struct stream. */
void stream_on_output(void *arg, int stream, const void *data, size_t len);
/* What was held back. */
void stream_end(struct stream *s);

#endif

/* The head of a request to a preview: checked strictly, and written again for
 * the server inside.
 *
 * Problem: a proxy and a server that read the same bytes differently can be
 * made to see different requests (request smuggling). And the token of a
 * preview must not reach the guest.
 *
 * Idea: only one form of each element is accepted, and the server gets lines
 * that were written here. A connection has one request: the server is asked to
 * close it, so the next request is checked like the first. */
#ifndef SUPERVISOR_PREVIEW_HEAD_H
#define SUPERVISOR_PREVIEW_HEAD_H

#include "base/buf.h"
#include "base/text.h"

enum { PREVIEW_HEAD_BYTES = 32768 };

/* Texts are borrowed from the bytes that were parsed. */
struct preview_head {
    struct text method, target, version;
    struct text lines; /* of the header */
    struct text host;  /* without a port */
    struct text token; /* p NULL: there is none */
    bool is_token_in_target;
    bool is_upgrade; /* to another protocol, such as WebSocket */
    uint64_t body_bytes;
};

/* Parses a head. Returns its length, 0 if it is incomplete, or the negative
 * status of the answer: -400, -411 (a body without a length) or -431 (too
 * long). */
int preview_head_parse(const char *p, size_t len, struct preview_head *ret);
/* Appends the head for the server inside, without the token. */
void preview_head_put(const struct preview_head *h, struct buf *b);
/* Appends the target without the token. */
void preview_head_put_target(const struct preview_head *h, struct buf *b);

#endif

/* The first message of a TLS client, and the name of the server in it.
 *
 * The policy allows a connection by its name. A client that asks the server at
 * the other end for another name would reach a host that no rule allows
 * (domain fronting). */
#ifndef NET_HELLO_H
#define NET_HELLO_H

#include <stddef.h>
#include <stdint.h>

enum {
    /* Of the records that contain the message. Those with key shares for
     * quantum computers have about 2 KiB. */
    HELLO_BYTES_MAX = 16384,
};

enum hello_verdict {
    HELLO_MORE, /* the bytes are the beginning of a message */
    HELLO_ASKS, /* for this name */
    HELLO_BAD,  /* for another name or none, or it is no such message */
};

/* Judges the first bytes that a client sends. `name` is canonical, `space` has
 * HELLO_BYTES_MAX bytes. A message that hides its name (ECH) is HELLO_BAD. */
enum hello_verdict hello_check(const uint8_t *p, size_t len, const char *name,
                               uint8_t *space);

#endif

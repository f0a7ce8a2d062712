/* One connection of a sandbox, from its request to its end. */
#ifndef NETD_CONNECTION_H
#define NETD_CONNECTION_H

#include "base/list.h"
#include "net/message.h"
#include "net/policy.h"
#include "netd/resolver.h"

struct broker;
struct pollfd;

/* A connection resolves, then tries its addresses, then is open. A new attempt
 * begins when the last one has failed or takes long, and the first success
 * wins (RFC 8305). If the policy allows it as TLS for its name, the sandbox
 * gets the descriptor only when its first bytes were checked and sent
 * (first.c). */
struct connection {
    struct list link; /* in broker->connections */
    struct broker *broker;
    struct message_request request;
    bool is_resolving, is_closed;
    struct in6_addr ip[RESOLVER_ADDRESSES_MAX];
    int attempt[RESOLVER_ADDRESSES_MAX]; /* descriptors, or -1 */
    size_t n, next;                      /* addresses, and those tried */
    int error;                           /* of the last attempt */
    int64_t next_ns, deadline_ns;        /* of the next attempt, of all */
    int hfd;                             /* open: the connection, or -1 */
    uint32_t number;                     /* open: in reports */
    int64_t since_ns;                    /* of the request, then of opening */
    struct in6_addr peer;
    bool is_first; /* open, and waits for first bytes until deadline_ns */
    uint8_t *first;
    size_t first_len;
};

/* Begins a connection, which answers the request itself, now or later. */
void connection_start(struct broker *b, const struct message_request *q);
/* Ends it for the sandbox, without an answer. Accepts NULL. */
void connection_close(struct connection *c);
/* Shuts an open connection down, and tells the sandbox. */
void connection_revoke(struct connection *c, enum verdict v);
/* Revokes it if the policy does not allow it any more; otherwise the limits of
 * the policy apply to it. */
void connection_review(struct connection *c);
/* Tells the sandbox that an open connection has ended by itself. `error` is 0
 * for an orderly end. Frees c. */
void connection_lose(struct connection *c, int error,
                     enum message_close_cause cause);
/* Returns the bytes of an open connection, both ways. */
uint64_t connection_bytes(const struct connection *c);
struct connection *connection_find(struct broker *b, uint32_t id);
/* Fills in the descriptors of attempts; returns their number. */
size_t connection_fill(const struct connection *c, struct pollfd *v);
/* Handles the same descriptors after a poll, and time limits. May free c. */
void connection_run(struct connection *c, const struct pollfd *v,
                    int64_t now_ns);
/* Returns when connection_run is due; NS_NEVER: not by time. */
int64_t connection_due_ns(const struct connection *c);

/* --- first.c */

/* Asks the sandbox for the first bytes of a connection that was just made. */
void first_want(struct connection *c);
/* Takes first bytes from the sandbox. May free c. */
void first_take(struct connection *c, const struct message_request *q);
/* Handles the host's end while first bytes are awaited. May free c. */
void first_run(struct connection *c, const struct pollfd *v, int64_t now_ns);

#endif

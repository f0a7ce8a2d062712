/* Ports of a session that the host forwards connections to. The supervisor
 * listens while the session has a worker, and passes accepted connections on.
 * The store keeps the forwards with the session's options. */
#ifndef SUPERVISOR_SESSION_FORWARD_H
#define SUPERVISOR_SESSION_FORWARD_H

#include "base/json.h"
#include "net/address.h"
#include "supervisor/common/reactor.h"

struct session;

enum { FORWARDS_MAX = 64 };

struct session_forward {
    struct list link; /* in session.forwards */
    struct session *s;
    struct source source; /* the listening socket; -1: does not listen */
    uint16_t port, host_port;
    char address[ADDRESS_TEXT_BYTES];
};

/* Adds a forward and listens. `address` is NULL for 127.0.0.1, `host_port` 0
 * for any free one. -EINVAL: no address; -EEXIST, -ENOSPC, -ENOMEM, -errno */
int session_forward_add(struct session *s, uint16_t port, const char *address,
                        uint16_t host_port, struct session_forward **ret);
struct session_forward *session_forward_find(const struct session *s,
                                             uint16_t port);
void session_forward_free(struct session_forward *f);
void session_forward_free_all(struct session *s);
/* Listens on the ports of all forwards again, and stops it. */
void session_forward_open_all(struct session *s);
void session_forward_close_all(struct session *s);
/* Reads the member of the stored options. -ENOMEM */
int session_forward_read(struct session *s, const struct json *stored);
/* Writes the forwards as a JSON array. */
void session_forward_put(struct buf *b, const struct session *s);

#endif

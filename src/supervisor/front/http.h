/* HTTP, in addition to the Unix socket: POST /rpc, GET /health, GET /metrics.
 *
 * There are no threads: libmicrohttpd's epoll descriptor is a source of the
 * loop. A request is a client; its connection is suspended until there is
 * something to send.
 *
 * The use of resources by clients is bounded. Limits apply to requests with a
 * token in progress, and to connections without one, of which the oldest is
 * closed for a new one. They also apply to the time for a request to arrive and
 * for an answer to be read, to the bytes of incomplete requests, and to failed
 * authentications per second. */
#ifndef SUPERVISOR_HTTP_H
#define SUPERVISOR_HTTP_H

#include "base/own.h"

struct buf;
struct http;
struct supervisor;

/* Listens as configured in sv->config. -EINVAL: `errors` contains lines. */
int http_new(struct supervisor *sv, struct buf *errors, OWN struct http **ret);
/* The clients of h must be gone. Accepts NULL. */
void http_free(OWN struct http *h);
/* Returns the port, which the system chose if the configured one is 0. */
int http_port(const struct http *h);
/* Writes its lines of /metrics. */
void http_put_metrics(const struct http *h, struct buf *b);

DEFINE_CLEANUP(struct http *, http_free)

#endif

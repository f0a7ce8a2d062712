/* HTTP, beside the Unix socket: POST /rpc, GET /health, GET /metrics.
 *
 * No threads: libmicrohttpd's epoll descriptor is a source of the loop. A
 * request is a client; its connection is suspended until there is something to
 * send. What clients can take is bounded: requests with a token under way, and
 * as many connections without one, of which the oldest makes room for a new
 * one; the time a request may take to arrive and an answer to be taken; bytes
 * of requests that are not complete; failures to show a token in a second. */
#ifndef SUPERVISOR_HTTP_H
#define SUPERVISOR_HTTP_H

#include "base/own.h"

struct buf;
struct http;
struct supervisor;

/* Listens, as sv->config says. -EINVAL: `errors` has lines. */
int http_new(struct supervisor *sv, struct buf *errors, OWN struct http **ret);
/* Its clients are gone. NULL is fine. */
void http_free(OWN struct http *h);
int http_port(const struct http *h);
/* Its lines of /metrics. */
void http_put_metrics(const struct http *h, struct buf *b);

DEFINE_CLEANUP(struct http *, http_free)

#endif

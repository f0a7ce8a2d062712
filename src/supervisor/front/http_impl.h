/* The HTTP server, its connections and its requests, shared by http.c,
 * http_request.c and http_answer.c.
 *
 * A connection (struct conn) lives as long as its socket, and has one request
 * at a time. A request is a client of the supervisor; it may outlive its
 * connection until its calls are answered. */
#ifndef SUPERVISOR_HTTP_IMPL_H
#define SUPERVISOR_HTTP_IMPL_H

#include "supervisor/front/http.h"

#include "base/buf.h"
#include "supervisor/config/config.h"
#include "supervisor/config/tokens.h"
#include "supervisor/front/mhd.h"
#include "supervisor/session/client.h"
#include "supervisor/session/supervisor.h"

/* The paths. */
enum http_path { PATH_rpc, PATH_health, PATH_metrics, PATH_other, N_PATHS };

/* The statuses that we send. */
#define HTTP_STATUSES(X) \
    X(200) X(204) X(400) X(401) X(404) X(405) X(413) X(415) X(500) X(503)
enum http_status {
#define X(code) STATUS_##code,
    HTTP_STATUSES(X)
#undef X
        N_STATUSES
};

/* The server. `conns` is ordered by age, so the oldest stranger is found
 * first. */
struct http {
    struct supervisor *sv;
    struct mhd mhd;
    struct MHD_Daemon *daemon;
    struct tokens tokens;
    struct source source;       /* libmicrohttpd's epoll */
    struct reactor_timer again; /* libmicrohttpd has more work, or a timeout */
    struct reactor_timer sweep; /* closes connections that are too slow */
    struct reactor_timer forgive; /* answers failures that wait */
    struct list conns;            /* oldest first */
    size_t n_conns, n_trusted;
    size_t body_bytes;     /* of incomplete requests */
    int64_t failure_at_ns; /* when the next one may be answered */
    struct list failures;  /* requests that wait to be rejected, in order */
    uint64_t accepted, evicted, expired;
    uint64_t answered[N_PATHS][N_STATUSES];
};

/* One connection. */
struct conn {
    struct list link;
    struct http *http;
    int hfd;
    int64_t deadline_ns; /* 0: it waits for us */
    bool is_trusted;     /* its request has shown a token */
    bool is_half_closed, is_closing;
    /* the end of its input, which libmicrohttpd may not see */
    struct source end;
    struct http_request *request; /* NULL: none at the moment */
};

enum request_format { AS_JSON, AS_LINES, AS_EVENTS };

/* One request, from its headers to the end of its answer. */
struct http_request {
    struct client client; /* once has_client */
    struct http *http;
    struct conn *conn; /* NULL: the connection has ended */
    struct MHD_Connection *mhd;
    enum http_path path;
    enum http_status status; /* the answer, unless it succeeds */
    bool has_client, is_settled, is_suspended, is_abandoned, is_behind;
    bool has_waited; /* before it is rejected */
    enum request_format format;
    struct buf body;
    struct buf out;
    size_t taken, lines; /* of out */
    struct list failure; /* in http->failures */
    int64_t forgive_ns;
};

/* libmicrohttpd has work that its epoll does not show. */
void http_wake(struct http *h);

/* --- connections (http.c) */

/* Starts a deadline for the other side, longer for more bytes. */
void http_conn_expect(struct conn *c, size_t bytes);
/* The other side waits for us: no deadline. */
void http_conn_wait(struct conn *c);
void http_conn_trust(struct conn *c, bool on);

/* --- requests (http_request.c) */

/* Called by libmicrohttpd for the headers, for each part of the body, and at
 * the end of the body. */
enum MHD_Result http_request_handle(void *cls,
                                    struct MHD_Connection *connection,
                                    const char *url, const char *method,
                                    const char *version, const char *data,
                                    size_t *size, void **ret_request);
/* Called when the answer was sent, or the connection is gone. */
void http_request_completed(void *cls, struct MHD_Connection *connection,
                            void **request,
                            enum MHD_RequestTerminationCode how);
/* Chooses the format by the parsed line: a stream, or one JSON text. */
void http_request_set_format(struct http_request *r, const struct json *line);
/* Suspends its connection until it is resumed, which can be repeated. */
void http_request_suspend(struct http_request *r);
void http_request_resume(struct http_request *r);
void http_request_free(OWN struct http_request *r);
/* Returns the method that its path requires. */
const char *http_request_method(const struct http_request *r);
/* The request will not be answered any more. */
void http_request_abandon(struct http_request *r);

/* --- answers (http_answer.c) */

/* Queue an answer. */
enum MHD_Result http_answer_status(struct http_request *r,
                                   enum http_status status);
enum MHD_Result http_answer_text(struct http_request *r, const char *type,
                                 const struct buf *text);
/* Queues the lines so far, and all that follow. */
enum MHD_Result http_answer_lines(struct http_request *r);
extern const struct client_ops http_client_ops;

#endif

/* The MCP front end: its object, its calls, and requests to the server. All
 * functions are called on the thread of the loop. */
#ifndef MCP_ADAPTER_IMPL_H
#define MCP_ADAPTER_IMPL_H

#include "base/own.h"
#include "mcp/tool.h"
#include "rpc/server.h"
#include "wire/frame.h"
#include "wire/peer.h"
#include "wire/writer.h"

enum { FILE_BYTES_MAX = 8 << 20 }; /* that a tool reads */
enum sandbox_state { SANDBOX_ABSENT, SANDBOX_CREATING, SANDBOX_READY };

struct adapter {
    struct peer peer; /* the client */
    struct frame in;
    struct writer out;
    struct server_options options;
    const char *create; /* parameters of the default sandbox, as JSON */
    int wake_hfd;       /* an eventfd: there is work for the loop */
    int server_hfds[2]; /* the pipe to the server */
    struct writer server;
    bool is_closed; /* the server gets no more requests */
    enum sandbox_state sandbox;
    struct list pending; /* calls that the server answers */
    struct list held;    /* calls that wait until they can begin */
    uint64_t last_id;    /* of requests to the server */
    uint64_t create_id, n_files;
    atomic_bool server_is_gone;
    pthread_mutex_t lock;
    struct buf inbox; /* lines of the server; guarded by lock */
};

struct adapter_call {
    struct call call; /* its link: in `pending` or `held` */
    const struct tool *tool;
    const struct json *args;
    uint64_t id; /* of the request to the server */
    bool is_modern, is_cancelled;
    /* Takes the next answer of the server, in place of tool->done. */
    void (*step)(OWN struct call *q, const struct json *result,
                 const char *error);
    char *kept; /* by one step for the next one */
    size_t kept_len;
    uint64_t number; /* the same */
};

static inline struct adapter *
adapter_of(const struct call *q)
{
    return CONTAINER_OF(q->peer, struct adapter, peer);
}

static inline struct adapter_call *
adapter_call_of(const struct call *q)
{
    return CONTAINER_OF(q, struct adapter_call, call);
}

/* Returns an argument of the tool; NULL: it is absent or null. */
static inline const struct json *
adapter_arg(const struct call *q, const char *name)
{
    const struct json *v = json_get(adapter_call_of(q)->args, name);

    return json_is(v, JSON_NULL) ? NULL : v;
}

/* Sends a request to the server; its answer continues the call. params: an
 * object as JSON. */
void adapter_ask(OWN struct call *q, const char *method,
                 const struct buf *params);
/* Begins a result: an object that adapter_end closes. */
struct buf *adapter_begin(struct call *q);
void adapter_end(OWN struct call *q);
/* Ends the call with isError and a text. */
void adapter_fail(OWN struct call *q, const char *text);

#endif

/* port.*: connections from the host to servers inside. */
#include "rpc/job.h"
#include "rpc/methods.h"
#include "rpc/values.h"

#include <stdlib.h>

void
do_port_forward(struct call *q)
{
    const char *address = param_text(q, "address");
    struct wsand_error err = {0};
    uint16_t port = 0;

    int r = wsand_port_forward(sandbox_of(q), (uint16_t)param_int(q, "port", 0),
                               address, (uint16_t)param_int(q, "hostPort", 0),
                               &port, &err);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    struct buf *b = answer_begin(q);
    buf_puts(b, "{\"address\":");
    put_text(b, address ? address : "127.0.0.1");
    buf_printf(b, ",\"port\":%u}", port);
    answer_end(q);
}

void
do_port_unforward(struct call *q)
{
    struct wsand_error err = {0};

    int r = wsand_port_unforward(sandbox_of(q),
                                 (uint16_t)param_int(q, "port", 0), &err);
    answer_status(q, r, &err);
}

void
do_port_list(struct call *q)
{
    struct wsand_error err = {0};
    struct wsand_port *v = NULL;
    size_t n = 0;

    int r = wsand_port_list(sandbox_of(q), &v, &n, &err);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    struct buf *b = answer_begin(q);
    buf_puts(b, "{\"ports\":[");
    for (size_t i = 0; i < n; i++) {
        buf_printf(b, "%s{\"port\":%u,\"address\":", i ? "," : "", v[i].port);
        put_text(b, v[i].address);
        buf_printf(b, ",\"hostPort\":%u}", v[i].host_port);
    }
    buf_puts(b, "]}");
    free(v);
    answer_end(q);
}

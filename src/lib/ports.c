/* Ports of a sandbox that the host forwards connections to. The process of the
 * library listens; kernel/inbound.c accepts. */
#include "broker/listen.h"
#include "kernel/inbound.h"
#include "lib/error.h"
#include "lib/sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FORWARDS_MAX = 64 };

static size_t
ports_count(const struct kernel *k)
{
    size_t n = 0;

    LIST_FOR_EACH(it, &k->inbounds)
        n++;
    return n;
}

int
wsand_port_forward(struct wsand_sandbox *sb, uint16_t port, const char *address,
                   uint16_t host_port, uint16_t *ret_port,
                   struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    const char *host = address ? address : "127.0.0.1";
    uint16_t bound = 0;

    if (!port)
        return error_set(err, EINVAL, "port 0 cannot be forwarded");
    if (sb->options.is_deterministic)
        return error_set(err, EINVAL,
                         "a deterministic sandbox cannot have connections "
                         "from outside");
    if (inbound_find(sb->kernel, port))
        return error_set(err, EEXIST, "port %u is forwarded already", port);
    if (ports_count(sb->kernel) == FORWARDS_MAX)
        return error_limit(err, "forwarded ports", FORWARDS_MAX);
    int hfd = broker_listen(host, host_port, &bound);
    if (hfd == -EINVAL)
        return error_set(err, EINVAL, "'%s' is not an address", host);
    if (hfd < 0)
        return error_errno(err, -hfd, "cannot listen on %s port %u", host,
                           host_port);
    int r = inbound_add(sb->kernel, port, hfd);
    if (r < 0)
        return error_errno(err, -r, "cannot forward port %u", port);
    sandbox_wake(sb);
    *ret_port = bound;
    return 0;
}

int
wsand_port_unforward(struct wsand_sandbox *sb, uint16_t port,
                     struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    struct inbound *i = inbound_find(sb->kernel, port);

    if (!i)
        return error_set(err, ENOENT, "port %u is not forwarded", port);
    inbound_free(i);
    return 0;
}

static void
ports_describe(const struct inbound *i, struct wsand_port *ret)
{
    *ret = (struct wsand_port){.port = i->port};
    broker_listen_address(i->hfd, ret->address, &ret->host_port);
}

int
wsand_port_list(struct wsand_sandbox *sb, struct wsand_port **ret,
                size_t *ret_n, struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    size_t n = ports_count(sb->kernel), at = 0;
    struct wsand_port *v = calloc(n + 1, sizeof *v);

    if (!v)
        return error_set(err, ENOMEM, "out of memory");
    LIST_FOR_EACH(it, &sb->kernel->inbounds)
        ports_describe(CONTAINER_OF(it, struct inbound, link), &v[at++]);
    *ret = v;
    *ret_n = n;
    return 0;
}

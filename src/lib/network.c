/* The policy belongs to the owner of the sandbox and lives here; the broker has
 * a copy. A new policy is complete and checked before it replaces the old one,
 * so a rule with an error changes nothing. */
#include "lib/network.h"

#include "base/buf.h"
#include "kernel/denial.h"
#include "kernel/kernel.h"
#include "kernel/outside.h"
#include "lib/error.h"
#include "lib/options.h"
#include "lib/sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Defaults of the limits. */
enum { CONNECTIONS = 64, CONNECTS = 50, LOOKUPS = 20 };

/* Parses a NULL-terminated list into an empty policy. */
static int
network_parse(const char *const *rules, struct policy *ret,
              struct wsand_error *err)
{
    const char *reason = NULL;
    int r = 0;

    for (; *rules && r == 0; rules++) {
        r = policy_add(ret, *rules, strlen(*rules), &reason);
        if (r == -ENOMEM)
            (void)error_set(err, ENOMEM, "out of memory");
        else if (r < 0)
            r = error_set(err, EINVAL, "network: the rule '%s' %s", *rules,
                          reason);
    }
    return r;
}

static int
network_check_limit(const char *name, uint32_t value, uint32_t max,
                    struct wsand_error *err)
{
    if (value <= max)
        return 0;
    return error_set(err, EINVAL, "network: %s must be at most %u", name, max);
}

int
network_check(const struct wsand_runtime *rt, const struct wsand_options *o,
              struct wsand_error *err)
{
    CLEANUP(policy_fini) struct policy p;

    policy_init(&p);
    int r = network_check_limit("connections", o->network_connections,
                                MESSAGE_CONNECTIONS_MAX, err);
    if (r == 0)
        r = network_check_limit("connects", o->network_connects,
                                MESSAGE_RATE_MAX, err);
    if (r == 0)
        r = network_check_limit("lookups", o->network_lookups, MESSAGE_RATE_MAX,
                                err);
    if (r < 0 || !o->network)
        return r;
    if (o->is_deterministic)
        return error_set(err, EINVAL,
                         "network: a deterministic sandbox cannot have one, "
                         "because hosts do not repeat their answers");
    if (!rt->broker && !rt->network_hfd)
        return error_set(err, EOPNOTSUPP,
                         "network: this installation has no broker "
                         "(libexec/wasmsand-netd)");
    return network_parse(o->network, &p, err);
}

static int
network_send_policy(const struct wsand_sandbox *sb, struct network *n)
{
    const struct wsand_options *o = &sb->options;
    const struct message_policy limits = {
        .connections =
            o->network_connections ? o->network_connections : CONNECTIONS,
        .connects = o->network_connects ? o->network_connects : CONNECTS,
        .lookups = o->network_lookups ? o->network_lookups : LOOKUPS,
        .host_loopback = sb->runtime->host_loopback,
        .bytes = o->network_bytes,
        .rate = o->network_rate,
    };
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, MESSAGE_RULES_MAX);
    for (size_t i = 0; i < n->policy.n; i++) {
        rule_print(&n->policy.rules[i], &b);
        buf_puts(&b, "\n");
    }
    int r = b.error;
    if (r == 0)
        r = broker_link_set(&n->link, &limits, b.p, b.len);
    if (r == 0)
        n->revision++;
    return r;
}

/* Sends the rules to the broker as lines. A broker of the owner has its rules
 * from the owner. */
static int
network_publish(const struct wsand_sandbox *sb, struct network *n)
{
    if (n->socket_hfd) {
        n->revision++;
        return 0;
    }
    return network_send_policy(sb, n);
}

static int
network_new(const struct wsand_sandbox *sb, OWN struct network **ret)
{
    const struct wsand_runtime *rt = sb->runtime;
    struct network *n = calloc(1, sizeof *n);

    if (!n)
        return -ENOMEM;
    n->socket_hfd = rt->network_hfd;
    int r = n->socket_hfd
                ? 0
                : broker_link_init(&n->link, rt->broker, rt->resolvers);
    if (r < 0)
        free(n);
    else
        *ret = n;
    return r;
}

static const struct outside_ops *
network_ops(const struct network *n)
{
    return n->socket_hfd ? &broker_socket_ops : &broker_ops;
}

static void *
network_arg(struct network *n)
{
    return n->socket_hfd ? (void *)&n->socket_hfd : (void *)&n->link;
}

void
network_free(OWN struct network *n)
{
    if (!n)
        return;
    if (!n->socket_hfd)
        broker_link_fini(&n->link);
    policy_fini(&n->policy);
    free(n);
}

int
network_start(struct wsand_sandbox *sb, struct kernel_options *ko,
              struct wsand_error *err)
{
    const char *const *rules = sb->options.network;

    if (!rules)
        return 0;
    int r = network_new(sb, &sb->network);
    if (r == 0)
        r = network_parse(rules, &sb->network->policy, err);
    if (r == 0)
        r = network_publish(sb, sb->network);
    if (r < 0)
        return error_errno(err, -r, "cannot create the network");
    ko->outside = network_ops(sb->network);
    ko->outside_arg = network_arg(sb->network);
    return 0;
}

void
network_copy_names(struct wsand_sandbox *to, const struct wsand_sandbox *from)
{
    if (to->kernel->outside && from->kernel->outside)
        (void)names_copy(&to->kernel->outside->names,
                         &from->kernel->outside->names);
}

/* --- the result of a run */

/* The array and its strings are one allocation. Without memory it is omitted:
 * error_class still says that something was denied. */
void
network_fill_denied(const struct wsand_sandbox *sb, struct wsand_output *ret)
{
    const struct denials *d = sb->kernel->denials;
    struct wsand_denied *v;

    if (!d->n)
        return;
    v = calloc(d->n, sizeof *v + sizeof d->v[0].host);
    if (!v)
        return;
    char *text = (char *)(v + d->n);
    for (size_t i = 0; i < d->n; i++, text += sizeof d->v[0].host) {
        memcpy(text, d->v[i].host, sizeof d->v[i].host);
        v[i] = (struct wsand_denied){text, d->v[i].port, d->v[i].reason};
    }
    ret->denied = v;
    ret->n_denied = d->n;
}

/* --- changing it */

/* A sandbox without a network gets one; the kernel keeps it from then on, also
 * while it is off. */
static int
network_need(struct wsand_sandbox *sb)
{
    struct kernel *k = sb->kernel;
    int r = sb->network ? 0 : network_new(sb, &sb->network);

    if (r == 0 && !k->outside)
        r = outside_new(k, network_ops(sb->network), network_arg(sb->network),
                        &k->outside);
    if (r == 0 && sb->network->socket_hfd)
        outside_open(k->outside);
    return r;
}

/* Everything that can fail comes first. */
static int
network_replace(struct wsand_sandbox *sb, const char *const *rules,
                struct policy *p)
{
    struct wsand_options copy = {0};

    int r = network_need(sb);
    if (r == 0)
        r = options_copy_network(&copy, rules);
    if (r < 0)
        return r;
    struct policy old = sb->network->policy;
    sb->network->policy = *p;
    r = network_publish(sb, sb->network);
    if (r < 0) {
        sb->network->policy = old;
        options_fini(&copy);
        return r;
    }
    *p = old;
    options_swap_network(&sb->options, &copy);
    options_fini(&copy);
    outside_set_on(sb->kernel->outside, rules != NULL);
    return 0;
}

int
wsand_network_set(struct wsand_sandbox *sb, const char *const *rules,
                  struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    CLEANUP(policy_fini) struct policy p;
    struct wsand_options o = sb->options;

    policy_init(&p);
    o.network = rules;
    int r = network_check(sb->runtime, &o, err);
    if (r < 0 || (!rules && !sb->network && !sb->runtime->network_hfd))
        return r;
    r = rules ? network_parse(rules, &p, err) : 0;
    if (r < 0)
        return r;
    r = network_replace(sb, rules, &p);
    if (r == 0 && sb->network->socket_hfd)
        sandbox_wake(sb); /* its threads watch the socket from now on */
    return r < 0 ? error_errno(err, -r, "cannot set the network policy") : 0;
}

/* The list and its strings are one allocation. */
static int
network_rule_list(const struct policy *p, char ***ret)
{
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, MESSAGE_RULES_MAX);
    for (size_t i = 0; i < p->n; i++) {
        rule_print(&p->rules[i], &b);
        buf_add(&b, "", 1);
    }
    char **v = b.error ? NULL : malloc((p->n + 1) * sizeof *v + b.len);
    if (!v)
        return -ENOMEM;
    char *text = (char *)(v + p->n + 1);
    if (b.len)
        memcpy(text, b.p, b.len);
    for (size_t i = 0; i < p->n; i++, text += strlen(text) + 1)
        v[i] = text;
    v[p->n] = NULL;
    *ret = v;
    return 0;
}

int
wsand_network_get(struct wsand_sandbox *sb, char ***ret, uint64_t *ret_revision,
                  struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    char **v = NULL;
    int r =
        sb->options.network ? network_rule_list(&sb->network->policy, &v) : 0;

    if (r < 0)
        return error_set(err, ENOMEM, "out of memory");
    *ret = v;
    *ret_revision = sb->network ? sb->network->revision : 0;
    return 0;
}

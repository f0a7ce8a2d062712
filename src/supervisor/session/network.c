#include "supervisor/session/network.h"

#include "net/message.h"
#include "supervisor/config/config.h"
#include "supervisor/session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits of a session that asks for none. */
enum { CONNECTIONS = 64, CONNECTS = 50, LOOKUPS = 20, IDLE_S = 60 };

bool
session_network_is_on(const struct session *s)
{
    return s->network && s->network->is_on && *s->sv->config->network_rules;
}

void
session_network_free(OWN struct session_network *n)
{
    if (!n)
        return;
    policy_fini(&n->policy);
    free(n);
}

static int
session_network_fail(char *why, int error, const char *text)
{
    (void)snprintf(why, NETWORK_WHY_BYTES, "%s", text);
    return -error;
}

/* --- setting */

static int
session_network_check_limit(const char *name, uint32_t value, uint32_t max,
                            char *why)
{
    if (value <= max)
        return 0;
    (void)snprintf(why, NETWORK_WHY_BYTES,
                   "network: limits.%s must be at most %u, as configured "
                   "(network.%s)",
                   name, max, name);
    return -EINVAL;
}

/* The configuration must allow a network at all. Each rule beyond it is
 * accepted, because the broker decides by both. */
static int
session_network_check(const struct session *s, const struct network_param *p,
                      char *why)
{
    const struct config *c = s->sv->config;

    if (p->rules && !*c->network_rules)
        return session_network_fail(
            why, EPERM,
            "network: sessions have none, because network.rules of the "
            "configuration is empty");
    int r = session_network_check_limit("connections", p->connections,
                                        c->network_connections, why);
    if (r == 0)
        r = session_network_check_limit("connects", p->connects,
                                        c->network_connects, why);
    if (r == 0)
        r = session_network_check_limit("lookups", p->lookups,
                                        c->network_lookups, why);
    return r;
}

/* Replaces the policy of s, and keeps its limits unless the parameter has
 * some. */
static int
session_network_replace(struct session *s, struct network_param *p,
                        OWN struct policy *rules)
{
    struct session_network *n = s->network;

    if (!n)
        n = s->network = calloc(1, sizeof *n);
    if (!n)
        return -ENOMEM;
    policy_fini(&n->policy);
    n->policy = *rules;
    policy_init(rules);
    n->is_on = p->rules;
    n->revision++;
    if (p->connections)
        n->connections = p->connections;
    if (p->connects)
        n->connects = p->connects;
    if (p->lookups)
        n->lookups = p->lookups;
    if (p->bytes)
        n->bytes = p->bytes;
    if (p->rate)
        n->rate = p->rate;
    return 0;
}

int
session_network_set(struct session *s, const struct json *given, char *why)
{
    CLEANUP(network_param_fini) struct network_param p;
    CLEANUP(policy_fini) struct policy rules;

    policy_init(&rules);
    int r = network_param_read(given, &p);
    if (r == 0)
        r = network_param_parse(&p, &rules);
    if (r < 0)
        return session_network_fail(why, -r, p.why);
    r = session_network_check(s, &p, why);
    if (r == 0 && session_network_replace(s, &p, &rules) < 0)
        r = session_network_fail(why, ENOMEM, "out of memory");
    return r;
}

static int
session_network_copy_rules(const struct session_network *n, struct policy *to)
{
    size_t bytes = n ? n->policy.n * sizeof *n->policy.rules : 0;

    if (!bytes)
        return 0;
    to->rules = malloc(bytes);
    if (!to->rules)
        return -ENOMEM;
    memcpy(to->rules, n->policy.rules, bytes);
    to->n = n->policy.n;
    return 0;
}

int
session_network_add(struct session *s, const struct json *allow,
                    const struct json *deny, char *why)
{
    CLEANUP(network_param_fini) struct network_param p = {0};
    CLEANUP(policy_fini) struct policy rules;

    policy_init(&rules);
    int r = session_network_copy_rules(s->network, &rules);
    if (r == 0)
        r = network_param_add(allow, deny, &p);
    if (r == 0)
        r = network_param_parse(&p, &rules);
    if (r < 0)
        return session_network_fail(why, -r, *p.why ? p.why : "out of memory");
    r = session_network_check(s, &p, why);
    if (r == 0 && session_network_replace(s, &p, &rules) < 0)
        r = session_network_fail(why, ENOMEM, "out of memory");
    return r;
}

/* --- the store */

/* A damaged policy is no policy: it must not allow anything. */
int
session_network_read(struct session *s, const struct json *stored)
{
    CLEANUP(network_param_fini) struct network_param p = {0};
    CLEANUP(policy_fini) struct policy rules;
    int64_t revision = 0;

    policy_init(&rules);
    if (!json_is(stored, JSON_OBJECT))
        return 0;
    (void)json_whole(json_get(stored, "revision"), &revision);
    if (network_param_read(json_get(stored, "policy"), &p) == -ENOMEM ||
        network_param_parse(&p, &rules) == -ENOMEM)
        return -ENOMEM;
    int r = session_network_replace(s, &p, &rules);
    if (r == 0)
        s->network->revision = (uint64_t)revision;
    return r;
}

/* Appends the rules that deny, without their `!`, or those that allow. */
static void
session_network_put_rules(struct buf *b, const char *name,
                          const struct policy *p, bool denies)
{
    const char *separator = "";
    CLEANUP(buf_fini) struct buf text;

    buf_init(&text, MESSAGE_RULES_MAX);
    put_name(b, name);
    buf_puts(b, "[");
    for (size_t i = 0; i < p->n; i++) {
        if (p->rules[i].is_deny != denies)
            continue;
        text.len = 0;
        rule_print(&p->rules[i], &text);
        buf_puts(b, separator);
        put_string(b, text.p + denies, text.len - denies);
        separator = ",";
    }
    buf_puts(b, "]");
}

static void
session_network_put_limits(struct buf *b, const struct session_network *n)
{
    const struct {
        const char *name;
        uint64_t value;
    } limits[] = {{"connections", n->connections},
                  {"connects", n->connects},
                  {"lookups", n->lookups},
                  {"bytes", n->bytes},
                  {"rate", n->rate}};
    size_t n_set = 0;

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (!limits[i].value)
            continue;
        if (!n_set++) {
            put_name(b, "limits");
            buf_puts(b, "{");
        }
        put_number(b, limits[i].name, limits[i].value);
    }
    if (n_set)
        buf_puts(b, "}");
}

void
session_network_put(struct buf *b, const struct session_network *n)
{
    if (!n || !n->is_on) {
        buf_puts(b, "\"off\"");
        return;
    }
    buf_puts(b, "{");
    session_network_put_rules(b, "allow", &n->policy, false);
    session_network_put_rules(b, "deny", &n->policy, true);
    session_network_put_limits(b, n);
    buf_puts(b, "}");
}

void
session_network_put_stored(struct buf *b, const struct session_network *n)
{
    buf_puts(b, "{");
    put_name(b, "policy");
    session_network_put(b, n);
    put_number(b, "revision", n->revision);
    buf_puts(b, "}");
}

/* --- the broker */

static uint32_t
session_network_limit(uint32_t asked, uint32_t standard, uint32_t max)
{
    uint32_t value = asked ? asked : standard;

    return value < max ? value : max;
}

/* Returns the smaller limit, where 0 means none. */
static uint64_t
session_network_smaller(uint64_t a, uint64_t b)
{
    if (!a || !b)
        return a ? a : b;
    return a < b ? a : b;
}

static struct message_policy
session_network_limits(const struct session *s, uint64_t used)
{
    const struct session_network *n = s->network;
    const struct config *c = s->sv->config;
    uint64_t bytes = session_network_smaller(
        n->bytes, (uint64_t)c->network_total_mb * 1000 * 1000);

    return (struct message_policy){
        .connections = session_network_limit(n->connections, CONNECTIONS,
                                             c->network_connections),
        .connects =
            session_network_limit(n->connects, CONNECTS, c->network_connects),
        .lookups =
            session_network_limit(n->lookups, LOOKUPS, c->network_lookups),
        .host_loopback = c->network_host_loopback,
        .idle_s = IDLE_S,
        .reports = 1,
        .bytes = bytes > used ? bytes - used : !!bytes,
        .rate = session_network_smaller(n->rate,
                                        (uint64_t)c->network_rate_kb * 1000),
    };
}

/* Appends rules of the configuration, which have commas between them, as
 * lines. */
static void
session_network_put_maximum(struct buf *b, const char *rules)
{
    for (; *rules; rules += *rules == ',') {
        size_t n = strcspn(rules, ",");
        buf_add(b, rules, n);
        buf_puts(b, "\n");
        rules += n;
    }
}

/* The lengths are known after the rules were written, so the head is written
 * twice. */
void
session_network_put_message(struct buf *b, const struct session *s,
                            uint64_t used)
{
    struct message_policy m = session_network_limits(s, used);
    const struct session_network *n = s->network;

    buf_add(b, &m, sizeof m);
    for (size_t i = 0; n->is_on && i < n->policy.n; i++) {
        rule_print(&n->policy.rules[i], b);
        buf_puts(b, "\n");
    }
    m.rules_len = (uint32_t)(b->len - sizeof m);
    session_network_put_maximum(b, s->sv->config->network_rules);
    m.maximum_len = (uint32_t)(b->len - sizeof m - m.rules_len);
    if (!b->error)
        memcpy(b->p, &m, sizeof m);
}

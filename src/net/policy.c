/* The decision about a host.
 *
 * Two questions decide: whether a rule contains the host, and whether that rule
 * is specific enough for the kind of its address. The second one exists because
 * names are not trusted: whoever owns a name chooses its address. Rules that
 * deny are read generously and rules that allow narrowly. An IPv6 address that
 * leads to an IPv4 address by translation is therefore denied by address rules
 * of both forms, and allowed by those of its own form only. */
#include "net/policy.h"

#include <errno.h>
#include <stdlib.h>

const char *
verdict_word(enum verdict v)
{
    static const char *const words[] = {
        [VERDICT_ALLOWED] = "allowed",   [VERDICT_NO_RULE] = "no-rule",
        [VERDICT_DENIED] = "denied",     [VERDICT_PRIVATE] = "private",
        [VERDICT_LOOPBACK] = "loopback", [VERDICT_RESERVED] = "reserved",
        [VERDICT_MAXIMUM] = "maximum",   [VERDICT_CONNECTIONS] = "connections",
        [VERDICT_CONNECTS] = "connects", [VERDICT_LOOKUPS] = "lookups",
        [VERDICT_BYTES] = "bytes",       [VERDICT_TLS] = "tls",
    };
    return words[v];
}

void
policy_init(struct policy *p)
{
    *p = (struct policy){0};
}

void
policy_fini(struct policy *p)
{
    free(p->rules);
    policy_init(p);
}

int
policy_add(struct policy *p, const char *text, size_t len,
           const char **ret_reason)
{
    struct rule r, *rules;
    const char *reason = rule_parse(text, len, &r);

    if (!reason && p->n == POLICY_RULES_MAX) {
        *ret_reason = "is one too many: a policy has at most 256 rules";
        return -E2BIG;
    }
    if (reason) {
        *ret_reason = reason;
        return -EINVAL;
    }
    rules = realloc(p->rules, (p->n + 1) * sizeof *rules);
    if (!rules)
        return -ENOMEM;
    p->rules = rules;
    p->rules[p->n++] = r;
    return 0;
}

/* Any name may lead to a public address. */
static bool
policy_rule_is_open(const struct rule *r)
{
    int all = address_is_v4(&r->ip) ? ADDRESS_V4_BITS : 0;

    return r->kind == RULE_PUBLIC ||
           (r->kind == RULE_ADDRESS && r->bits == all);
}

enum verdict
policy_decide_name(const struct policy *p, const char *name, size_t len,
                   uint16_t port)
{
    enum verdict v = VERDICT_NO_RULE;

    for (size_t i = 0; i < p->n; i++) {
        const struct rule *r = &p->rules[i];
        bool has_name = rule_has_name(r, name, len);
        if (r->is_deny && has_name &&
            (port ? rule_has_port(r, port) : rule_has_all_ports(r)))
            return VERDICT_DENIED;
        if (!r->is_deny && (has_name || policy_rule_is_open(r)) &&
            rule_has_port(r, port))
            v = VERDICT_ALLOWED;
    }
    return v;
}

/* An address and the properties of it that all rules need. */
struct policy_host {
    const struct policy_target *target;
    struct in6_addr v4; /* that the address leads to */
    bool has_v4;
    bool leads_to_public; /* itself, or by translation */
    enum address_kind kind;
    int kind_bits;
};

static struct policy_host
policy_host_of(const struct policy_target *t)
{
    struct policy_host h = {.target = t};
    int bits;

    h.has_v4 = address_leads_to(&t->ip, &h.v4);
    h.kind = address_kind(&t->ip, &h.kind_bits);
    h.leads_to_public =
        address_kind(h.has_v4 ? &h.v4 : &t->ip, &bits) == ADDRESS_PUBLIC;
    return h;
}

/* A rule that denies has every form of an address. One for public addresses
 * has every host, but policy_rule_opens only the public ones. */
static bool
policy_rule_has(const struct rule *r, const struct policy_host *h)
{
    const struct policy_target *t = h->target;

    switch (r->kind) {
    case RULE_NAME:
        return t->name && rule_has_name(r, t->name, t->name_len);
    case RULE_PUBLIC:
        return !r->is_deny || h->leads_to_public;
    case RULE_ADDRESS:
        break;
    }
    return rule_has_address(r, &t->ip) ||
           (r->is_deny && h->has_v4 && rule_has_address(r, &h->v4));
}

/* Returns true if the rule, which contains the host, is specific enough for the
 * kind of its address. */
static bool
policy_rule_opens(const struct policy *p, const struct rule *r,
                  const struct policy_host *h)
{
    bool is_narrow = r->kind == RULE_ADDRESS && r->bits >= h->kind_bits;

    switch (h->kind) {
    case ADDRESS_PUBLIC:
        return true;
    case ADDRESS_PRIVATE:
        return r->may_be_private || is_narrow;
    case ADDRESS_LOOPBACK:
        return p->host_loopback && is_narrow;
    case ADDRESS_RESERVED:
        break;
    }
    return r->kind == RULE_ADDRESS && r->bits == ADDRESS_BITS;
}

static enum verdict
policy_verdict_of(enum address_kind kind)
{
    static const enum verdict of[] = {
        [ADDRESS_PUBLIC] = VERDICT_NO_RULE,
        [ADDRESS_PRIVATE] = VERDICT_PRIVATE,
        [ADDRESS_LOOPBACK] = VERDICT_LOOPBACK,
        [ADDRESS_RESERVED] = VERDICT_RESERVED,
    };
    return of[kind];
}

/* One pass: a rule that denies ends it, and one that allows counts only if none
 * of the others denies. A rule that does not check the connection is preferred,
 * so that the order of rules does not matter. */
enum verdict
policy_decide(const struct policy *p, const struct policy_target *t,
              const struct rule **ret_rule)
{
    struct policy_host h = policy_host_of(t);
    const struct rule *allowing = NULL;
    enum verdict v = VERDICT_NO_RULE;

    for (const struct rule *r = p->rules; r < p->rules + p->n; r++) {
        if (!policy_rule_has(r, &h) || !rule_has_port(r, t->port))
            continue;
        if (r->is_deny)
            return VERDICT_DENIED;
        if ((!allowing || rule_checks_tls(allowing, t->port)) &&
            policy_rule_opens(p, r, &h))
            allowing = r;
        v = policy_verdict_of(h.kind);
    }
    if (!allowing)
        return v;
    *ret_rule = allowing;
    return VERDICT_ALLOWED;
}

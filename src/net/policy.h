/* The network policy of one sandbox: a list of rules, and the decision about a
 * connection.
 *
 * A rule that denies overrides all that allow, and a connection without a rule
 * is denied. Addresses that are not public need a rule that names them: an
 * address rule at least as narrow as their range, or `+private` at the name.
 * Reserved addresses need a rule of exactly that address, and those of the
 * host's loopback also `host_loopback`. */
#ifndef NET_POLICY_H
#define NET_POLICY_H

#include "base/own.h"
#include "net/rule.h"

enum { POLICY_RULES_MAX = 256 };

enum verdict {
    VERDICT_ALLOWED,
    VERDICT_NO_RULE,
    VERDICT_DENIED,
    VERDICT_PRIVATE,
    VERDICT_LOOPBACK,
    VERDICT_RESERVED,
    VERDICT_MAXIMUM, /* the owner's maximum does not allow it */
    /* Limits of the policy. */
    VERDICT_CONNECTIONS,
    VERDICT_CONNECTS,
    VERDICT_LOOKUPS,
    VERDICT_BYTES,
    VERDICT_TLS, /* the connection does not begin as TLS for its name */
    N_VERDICTS
};
/* Returns one word for the answer to a client: "no-rule", ... */
const char *verdict_word(enum verdict v);

struct policy {
    struct rule *rules;
    size_t n;
    bool host_loopback;
};

void policy_init(struct policy *p);
/* The object can be used again. */
void policy_fini(struct policy *p);
/* Appends a rule. -EINVAL with the reason of rule_parse; -E2BIG beyond
 * POLICY_RULES_MAX, also with a reason; -ENOMEM. */
int policy_add(struct policy *p, const char *text, size_t len,
               const char **ret_reason);

/* Decides if a canonical name may be looked up for this port (0: any). A name
 * without a rule is never sent to a name server, because a lookup can carry
 * data to the server of the name's owner. */
enum verdict policy_decide_name(const struct policy *p, const char *name,
                                size_t len, uint16_t port);

struct policy_target {
    const char *name; /* canonical; NULL: the guest gave an address */
    size_t name_len;
    struct in6_addr ip; /* to connect to */
    uint16_t port;
};
/* Decides about a connection. If it is allowed, *ret_rule is the rule. */
enum verdict policy_decide(const struct policy *p,
                           const struct policy_target *t,
                           const struct rule **ret_rule);

DEFINE_CLEANUP(struct policy *, policy_fini)

#endif

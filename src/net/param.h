/* The parameter `network` of requests: "off", "public", or an object with the
 * rules and limits. */
#ifndef NET_PARAM_H
#define NET_PARAM_H

#include "base/json.h"
#include "net/policy.h"

enum { NETWORK_WHY_BYTES = 512 };

struct network_param {
    const char **rules; /* owned, NULL-terminated; NULL: no network */
    uint32_t connections, connects, lookups; /* 0: the default */
    uint64_t bytes, rate;                    /* 0: no limit */
    char *text;                              /* of denied hosts, owned */
    char why[NETWORK_WHY_BYTES];             /* after an error */
};

/* Reads the parameter; NULL and false mean "off". The texts of rules are not
 * checked, and belong to `v`. -EINVAL or -ENOMEM with `why`; then there is
 * nothing to free. */
int network_param_read(const struct json *v, struct network_param *ret);
/* Makes rules of two lists of texts, each of which may be NULL. Errors as
 * above. */
int network_param_add(const struct json *allow, const struct json *deny,
                      struct network_param *ret);
/* Appends the rules to a policy. -EINVAL: `why` contains the rule and the
 * reason. -ENOMEM. */
int network_param_parse(struct network_param *p, struct policy *ret);
void network_param_fini(struct network_param *p);

#endif

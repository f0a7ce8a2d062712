/* The broker of one sandbox: it decides by the policy, resolves names,
 * connects, and passes the connected descriptor to the sandbox.
 *
 * The broker keeps a copy of each descriptor, to end a connection that a new
 * policy denies. One thread runs everything in one loop. */
#ifndef NETD_BROKER_H
#define NETD_BROKER_H

#include "base/list.h"
#include "net/message.h"
#include "net/policy.h"
#include "netd/bucket.h"
#include "netd/resolver.h"

struct broker {
    int requests_hfd, policy_hfd;
    bool is_over; /* the sandbox is gone, has sent nonsense, or is idle */
    bool is_idle;
    bool is_spent; /* the limit of bytes is reached */
    struct message_policy limits;
    struct policy policy, maximum;
    bool has_maximum;
    struct bucket connects, lookups;
    struct resolver resolver;
    struct list connections, queries;
    size_t n_connections, n_queries;
    uint32_t n_opened;     /* connections so far: their numbers in reports */
    uint64_t closed_bytes; /* of connections that were closed */
    int64_t used_ns;       /* the last request */
    /* The poll set: requests, policy, resolver, then attempts. */
    struct pollfd *polled;
    struct message_policy *message; /* space for one */
};

/* Without a policy, everything is denied. The descriptors stay with the
 * caller. -ENOMEM, -EINVAL: `servers` is invalid. */
int broker_init(struct broker *b, int requests_hfd, int policy_hfd,
                const char *servers);
void broker_fini(struct broker *b);
/* Serves until the sandbox closes its end. */
void broker_run(struct broker *b);
/* Shuts all connections down. A sandbox that makes its broker end does not keep
 * connections that nothing controls. */
void broker_end_connections(struct broker *b);

/* --- for connection.c */

/* Decides about a request with one of its addresses, or about its name. */
enum verdict broker_judge(const struct broker *b,
                          const struct message_request *q,
                          const struct in6_addr *ip);
enum verdict broker_judge_name(const struct broker *b,
                               const struct message_request *q);
/* Returns true if a connection that is allowed must begin as TLS for its
 * name. */
bool broker_checks_tls(const struct broker *b, const struct message_request *q,
                       const struct in6_addr *ip);
/* Sends a report to the owner, if the owner wants any. */
void broker_report(struct broker *b, const struct message_report *r);
void broker_report_denied(struct broker *b, const struct message_request *q,
                          enum verdict v);
/* Sends an answer, with a descriptor unless hfd is negative. */
void broker_answer(struct broker *b, const struct message_answer *a, int hfd);

#endif

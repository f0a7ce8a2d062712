/* Messages between a sandbox and its broker: fixed structures, one in each
 * packet of a SOCK_SEQPACKET pair. Both ends run on one host.
 *
 * The sandbox asks on one pair. Its owner sets the policy on a second one,
 * which the sandbox does not have if it runs in a process of its own. */
#ifndef NET_MESSAGE_H
#define NET_MESSAGE_H

#include "net/hostname.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

enum message_request_kind {
    REQUEST_CONNECT = 1,
    REQUEST_LOOKUP, /* does the name exist? */
    REQUEST_CLOSE,  /* of a connection, or of one that is being made */
    /* The first bytes of a connection: `name_len` bytes in `name`, and further
     * ones in the next request. `port` is 1 with the last ones; the sandbox
     * then waits for ANSWER_FIRST. */
    REQUEST_FIRST,
};

/* `id` is chosen by the sandbox. It must not be in use for another request or
 * connection, and is free again after an answer with an error or
 * REQUEST_CLOSE. */
struct message_request {
    uint32_t kind, id;
    struct in6_addr ip;          /* to connect to, if there is no name */
    uint16_t port;               /* in host order */
    uint16_t name_len;           /* 0: none */
    char name[HOSTNAME_MAX + 3]; /* canonical, then zeros */
};

enum message_answer_kind {
    ANSWER_CONNECT = 1, /* with a descriptor if `error` is 0 */
    ANSWER_LOOKUP,
    ANSWER_ENDED, /* the connection was shut down: a new policy, or a limit */
    /* Of the owner: the broker is gone, and with it all connections and
     * requests. */
    ANSWER_LOST,
    /* Of the owner: a connection from outside to the port `id`, with its
     * descriptor. */
    ANSWER_INCOMING,
    /* The connection is made, but the broker checks its first bytes before it
     * passes the descriptor. Sent instead of ANSWER_CONNECT, and after
     * REQUEST_FIRST if more bytes are needed. */
    ANSWER_WANT_FIRST,
    /* The first bytes were sent to the host. With the descriptor. */
    ANSWER_FIRST,
};

struct message_answer {
    uint32_t kind, id;
    int32_t error;    /* errno, positive, or 0 */
    uint32_t verdict; /* enum verdict: why, if the policy or a limit decided */
};

/* The policy: this structure, then `rules_len` bytes of rules and `maximum_len`
 * bytes of rules of the maximum, with a newline behind each. It replaces the
 * former one. A host must be allowed by the rules, and by the maximum if there
 * is one. */
struct message_policy {
    uint32_t connections;       /* maximum at a time */
    uint32_t connects, lookups; /* maximum per second */
    uint32_t host_loopback;     /* 1: rules may name loopback addresses */
    uint32_t rules_len, maximum_len;
    uint32_t idle_s;  /* ends after this time without connections; 0: never */
    uint32_t reports; /* 1: the owner reads reports from its socket */
    uint64_t bytes;   /* maximum of all connections, both ways; 0: none */
    uint64_t rate;    /* maximum that is sent per second; 0: none */
};

enum message_report_kind {
    REPORT_OPEN = 1,
    REPORT_CLOSE,
    REPORT_DENY,
};

enum message_close_cause {
    CLOSE_GUEST,
    CLOSE_PEER,
    CLOSE_POLICY,
    CLOSE_LIMIT,
    CLOSE_BROKER, /* the broker has ended */
    N_CLOSE_CAUSES
};

/* A report to the owner, on the socket of the policy. Reports that the owner
 * does not read in time are dropped. */
struct message_report {
    uint32_t kind;
    uint32_t connection;     /* a number of the broker's; not REPORT_DENY */
    uint32_t reason;         /* enum verdict, or enum message_close_cause */
    uint32_t ms;             /* REPORT_OPEN: to connect; REPORT_CLOSE: open */
    struct in6_addr ip;      /* zeros: not known */
    uint16_t port, name_len; /* name_len 0: there is no name */
    char name[HOSTNAME_MAX + 3]; /* canonical, then zeros */
    uint64_t sent, received;     /* REPORT_CLOSE: bytes */
};

enum {
    MESSAGE_RULES_MAX = 1 << 17,
    MESSAGE_POLICY_BYTES_MAX =
        sizeof(struct message_policy) + 2 * MESSAGE_RULES_MAX,
    MESSAGE_CONNECTIONS_MAX = 1024,
    MESSAGE_RATE_MAX = 1000,
    /* First bytes in one request, and at most before an answer. */
    MESSAGE_FIRST_BYTES = HOSTNAME_MAX + 3,
    MESSAGE_FIRST_BYTES_MAX = 4096,
    /* Descriptors of the broker. */
    MESSAGE_REQUESTS_HFD = 0,
    MESSAGE_POLICY_HFD = 1,
    /* Exit status of a broker that ended because it was idle. */
    MESSAGE_EXIT_IDLE = 3,
};

/* Returns true if the bytes are a well-formed request: its kind is known, its
 * name is canonical, a connection has a port, and first bytes are some. */
bool message_request_is_valid(const struct message_request *q, size_t len);
bool message_policy_is_valid(const struct message_policy *p, size_t len);
/* For the owner: the broker is not trusted with lengths and numbers either. */
bool message_report_is_valid(const struct message_report *r, size_t len);

#endif

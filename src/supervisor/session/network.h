/* The network of a session: its policy and its limits. The session has them
 * without a worker, and the store keeps them with its options. */
#ifndef SUPERVISOR_SESSION_NETWORK_H
#define SUPERVISOR_SESSION_NETWORK_H

#include "base/json.h"
#include "base/own.h"
#include "net/param.h"

struct buf;
struct config;
struct session;

enum { NETWORK_DENIED_MAX = 16 };

/* A host that was denied, and how often since the session has a worker. */
struct network_denied {
    char host[HOSTNAME_MAX + 1];
    uint16_t port;
    enum verdict reason;
    uint64_t count, reported; /* in total, and in events */
    int64_t reported_ns;      /* the last event */
};

struct session_network {
    bool is_on;
    struct policy policy;
    uint32_t connections, connects, lookups; /* 0: the default */
    uint64_t bytes, rate;                    /* 0: none */
    uint64_t revision;                       /* number of policies so far */
    struct network_denied denied[NETWORK_DENIED_MAX];
    size_t n_denied;
};

/* Returns true if the session has a policy, and the configuration allows a
 * network. */
bool session_network_is_on(const struct session *s);
/* Reads a parameter `network` of a client as the policy of s. A policy of s
 * before stays if there is an error. -EINVAL, -ENOMEM, -EPERM: `why` has
 * NETWORK_WHY_BYTES for the reason. */
int session_network_set(struct session *s, const struct json *given, char *why);
/* Adds rules of two lists, each of which may be NULL. Errors as above. */
int session_network_add(struct session *s, const struct json *allow,
                        const struct json *deny, char *why);
/* Reads the member of the stored options; anything but an object is none.
 * -ENOMEM */
int session_network_read(struct session *s, const struct json *stored);
/* Accepts NULL. */
void session_network_free(OWN struct session_network *n);
/* Writes the policy as the parameter `network`; NULL is "off". */
void session_network_put(struct buf *b, const struct session_network *n);
/* Writes the member of the stored options. */
void session_network_put_stored(struct buf *b, const struct session_network *n);
/* Writes the message for the broker (net/message.h). `used` are the bytes of
 * brokers before. */
void session_network_put_message(struct buf *b, const struct session *s,
                                 uint64_t used);

#endif

/* The broker of one sandbox, as its owner sees it: a process (wasmsand-netd)
 * that is started when the sandbox first needs it. */
#ifndef HOST_BROKER_H
#define HOST_BROKER_H

#include "base/own.h"
#include "net/message.h"

#include <stddef.h>
#include <sys/types.h>

struct outside_ops;

struct broker_link {
    char *program, *resolvers;     /* owned; resolvers may be NULL */
    struct message_policy *policy; /* owned */
    size_t policy_len;
    pid_t pid;                    /* 0: not running */
    int requests_hfd, policy_hfd; /* -1: not running */
};

/* Operations on a struct broker_link. */
extern const struct outside_ops broker_ops;
/* Operations on an int, a socket to a broker that the owner of this process
 * starts and replaces. The policy is the owner's. */
extern const struct outside_ops broker_socket_ops;

/* Copies the path of the program and the list of name servers (NULL: those of
 * the host). -ENOMEM: nothing to free. */
int broker_link_init(struct broker_link *b, const char *program,
                     const char *resolvers);
/* Ends the process. */
void broker_link_fini(struct broker_link *b);
/* Sets the policy: `rules` are `len` bytes of text, with a newline behind each
 * rule, and were checked; NULL for none. A running broker gets it at once, and
 * ends the connections that it denies. -ENOMEM: nothing has changed. */
int broker_link_set(struct broker_link *b, const struct message_policy *limits,
                    const char *rules, size_t len);

#endif

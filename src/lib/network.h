/* The network of a sandbox: its policy, and the broker that enforces it. */
#ifndef LIB_NETWORK_H
#define LIB_NETWORK_H

#include "wasmsand.h"

#include "base/own.h"
#include "host/broker.h"
#include "net/policy.h"

struct kernel_options;

struct network {
    struct broker_link link; /* not used with a broker of the owner */
    int socket_hfd;          /* to a broker of the owner, or 0 */
    struct policy policy;
    uint64_t revision; /* number of policies so far */
};

/* Checks the options about the network. -EINVAL: a bad rule, or a deterministic
 * sandbox; -EOPNOTSUPP: the runtime has no broker. */
int network_check(const struct wsand_runtime *rt, const struct wsand_options *o,
                  struct wsand_error *err);
/* Gives sb the network of its options, and the kernel its part; without rules,
 * does nothing. */
int network_start(struct wsand_sandbox *sb, struct kernel_options *ko,
                  struct wsand_error *err);
/* Gives a copy of a sandbox the addresses that stand for names. Without memory,
 * programs in the copy must ask for names again. */
void network_copy_names(struct wsand_sandbox *to,
                        const struct wsand_sandbox *from);
/* The kernel of the sandbox must be gone. Accepts NULL. */
void network_free(OWN struct network *n);
/* Copies the hosts that the run was denied into the result. */
void network_fill_denied(const struct wsand_sandbox *sb,
                         struct wsand_output *ret);

#endif

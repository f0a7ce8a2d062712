/* Starting the process of a broker (wasmsand-netd). */
#ifndef BROKER_PROCESS_H
#define BROKER_PROCESS_H

#include "base/own.h"

#include <sys/types.h>

/* Creates a pair of sockets for requests or for the policy. -errno */
int broker_process_pair(OWN int *ret_ours, OWN int *ret_theirs);
/* Starts the program with the two sockets of net/message.h, which stay with the
 * caller and are above descriptor 2. `resolvers` may be NULL: those of the
 * host. The process is a child of the caller. -errno */
int broker_process_start(const char *program, const char *resolvers,
                         int requests, int policy, pid_t *ret_pid);

#endif

/* The traffic of a connection, as the host's kernel counts it. */
#ifndef NETD_TRAFFIC_H
#define NETD_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

struct traffic {
    uint64_t sent, received; /* bytes */
    bool peer_has_closed;
};

/* All zero if the kernel does not tell. */
struct traffic traffic_of(int hfd);
/* Limits the bytes per second that are sent. */
void traffic_limit(int hfd, uint64_t rate);

#endif

/* This file is apart because the kernel's header with all counters and the C
 * library's header of TCP exclude each other. */
#include "netd/traffic.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* States of TCP, as Linux numbers them. */
enum { STATE_CLOSE_WAIT = 8, STATE_LAST_ACK = 9 };

/* Bytes that were sent again are counted once. The end of the peer's stream may
 * count as one byte. */
struct traffic
traffic_of(int hfd)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof info;

    if (getsockopt(hfd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
        return (struct traffic){0};
    return (struct traffic){
        .sent = info.tcpi_bytes_sent - info.tcpi_bytes_retrans,
        .received = info.tcpi_bytes_received,
        .peer_has_closed = info.tcpi_state == STATE_CLOSE_WAIT ||
                           info.tcpi_state == STATE_LAST_ACK,
    };
}

void
traffic_limit(int hfd, uint64_t rate)
{
    (void)setsockopt(hfd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate);
}

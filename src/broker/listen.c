#include "broker/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 128 };

/* An address of the host, as a socket has it. */
union listen_address {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

/* Returns the length of the address, or 0 if the text is none. */
static socklen_t
broker_listen_parse(const char *text, uint16_t port, union listen_address *ret)
{
    struct in6_addr ip;

    *ret = (union listen_address){0};
    if (!address_parse(text, strlen(text), &ip))
        return 0;
    ret->in6.sin6_port = htons(port); /* at the same place in both */
    if (!address_is_v4(&ip)) {
        ret->in6.sin6_family = AF_INET6;
        ret->in6.sin6_addr = ip;
        return sizeof ret->in6;
    }
    ret->in.sin_family = AF_INET;
    memcpy(&ret->in.sin_addr, ip.s6_addr + 12, sizeof ret->in.sin_addr);
    return sizeof ret->in;
}

/* Returns a listening socket, or -errno. */
static int
broker_listen_at(const union listen_address *at, socklen_t len,
                 uint16_t *ret_port)
{
    union listen_address bound = {0};
    socklen_t bound_len = sizeof bound;
    const int on = 1;

    int hfd =
        socket(at->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (hfd < 0)
        return -errno;
    if (setsockopt(hfd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(hfd, &at->sa, len) < 0 || listen(hfd, BACKLOG) < 0 ||
        getsockname(hfd, &bound.sa, &bound_len) < 0) {
        int r = -errno;
        close(hfd);
        return r;
    }
    *ret_port = ntohs(bound.in.sin_port);
    return hfd;
}

int
broker_listen(const char *address, uint16_t port, uint16_t *ret_port)
{
    union listen_address at;
    socklen_t len = broker_listen_parse(address, port, &at);

    return len ? broker_listen_at(&at, len, ret_port) : -EINVAL;
}

void
broker_listen_address(int hfd, char ret[ADDRESS_TEXT_BYTES], uint16_t *ret_port)
{
    union listen_address at = {0};
    socklen_t len = sizeof at;
    struct in6_addr ip = {0};

    (void)getsockname(hfd, &at.sa, &len);
    if (at.sa.sa_family == AF_INET)
        address_map_v4(&at.in.sin_addr, &ip);
    else
        ip = at.in6.sin6_addr;
    address_print(&ip, ret);
    *ret_port = ntohs(at.in.sin_port);
}

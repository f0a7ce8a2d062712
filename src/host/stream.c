/* MSG_DONTWAIT makes each call non-blocking, whatever the flags of the
 * descriptor are. */
#include "host/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

int64_t
stream_send(int hfd, const void *p, size_t len)
{
    ssize_t n;

    do
        n = send(hfd, p, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

int64_t
stream_recv(int hfd, void *p, size_t len, bool peeks)
{
    ssize_t n;

    do
        n = recv(hfd, p, len, MSG_DONTWAIT | (peeks ? MSG_PEEK : 0));
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

int
stream_shutdown(int hfd, int how)
{
    return shutdown(hfd, how) < 0 ? -errno : 0;
}

/* Nothing here collects small segments, so they are sent at once. */
int
stream_accept(int hfd)
{
    const int on = 1;
    int r;

    do
        r = accept4(hfd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    while (r < 0 && errno == EINTR);
    if (r < 0)
        return -errno;
    (void)setsockopt(r, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return r;
}

void
stream_close(int hfd)
{
    close(hfd);
}

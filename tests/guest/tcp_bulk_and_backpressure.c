/* A nonblocking sender fills the buffers, EAGAIN, and nothing is lost. */
#include "net.h"

#define TOTAL (3 << 20)

static unsigned char out[TOTAL], in[65536];

int
main(void)
{
    struct pollfd pf[2];
    size_t sent = 0, got = 0, i;
    ssize_t n;
    int s[2], full = 0, small = 65536;

    tcp_pair(s);
    OK(setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small));
    OK(setsockopt(s[1], SOL_SOCKET, SO_RCVBUF, &small, sizeof small));
    for (i = 0; i < TOTAL; i++)
        out[i] = (unsigned char)(i * 2654435761u >> 16);
    OK(fcntl(s[0], F_SETFL, O_NONBLOCK));
    OK(fcntl(s[1], F_SETFL, O_NONBLOCK));
    while (got < TOTAL) {
        while (sent < TOTAL &&
               (n = send(s[0], out + sent, TOTAL - sent, 0)) > 0)
            sent += (size_t)n;
        full += sent < TOTAL && errno == EAGAIN;
        pf[0] = (struct pollfd){s[0], sent < TOTAL ? POLLOUT : 0, 0};
        pf[1] = (struct pollfd){s[1], POLLIN, 0};
        CHECK(poll(pf, 2, 60000) >= 1);
        n = recv(s[1], in, sizeof in, 0);
        CHECK(n > 0 || errno == EAGAIN);
        if (n > 0) {
            CHECK(memcmp(in, out + got, (size_t)n) == 0);
            got += (size_t)n;
        }
    }
    CHECK(full > 0);
    OK(close(s[0]));
    pf[1].revents = 0;
    CHECK_EQ(poll(pf + 1, 1, 60000), 1);
    CHECK_EQ(recv(s[1], in, 1, 0), 0);
    return 0;
}

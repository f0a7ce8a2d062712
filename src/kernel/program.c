/* Waiting for a program that is being compiled. */
#include "kernel/machine.h"

#include "kernel/clock.h"

#include <errno.h>
#include <poll.h>

int
program_await(const struct program *p, int kick_hfd, int64_t deadline_ns)
{
    struct pollfd v[] = {{.fd = p->hfd, .events = POLLIN},
                         {.fd = kick_hfd, .events = POLLIN}};

    for (;;) {
        int64_t left = deadline_ns ? deadline_ns - host_mono_ns() : 0;
        struct timespec ts = {left / NS_PER_S, left % NS_PER_S};
        if (left < 0)
            return -ETIMEDOUT;
        int n = ppoll(v, 2, deadline_ns ? &ts : NULL, NULL);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            return v[0].revents ? 0 : -EINTR;
    }
}

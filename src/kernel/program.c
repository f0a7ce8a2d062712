/* Waiting for a program that is being compiled. */
#include "kernel/machine.h"

#include "kernel/clock.h"

#include <errno.h>
#include <poll.h>

/* A signal of the host interrupts the poll, which is then continued with the
 * time that is left. */
int
program_await(const struct host_ops *host, const struct program *p,
              int kick_hfd, int64_t deadline_ns)
{
    struct pollfd v[] = {{.fd = p->hfd, .events = POLLIN},
                         {.fd = kick_hfd, .events = POLLIN}};

    for (;;) {
        int64_t left = deadline_ns ? deadline_ns - host->mono_ns() : NS_NEVER;
        if (left < 0)
            return -ETIMEDOUT;
        int n = host->poll(v, 2, left);
        if (n < 0 && n != -EINTR)
            return n;
        if (n > 0)
            return v[0].revents ? 0 : -EINTR;
    }
}
